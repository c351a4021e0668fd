"""Tables in other people's formats: what an exporter gets, and the formats that come with perfectplay."""
