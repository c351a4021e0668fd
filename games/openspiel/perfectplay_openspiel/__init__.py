"""OpenSpiel's games for perfectplay: `solve openspiel --game "connect_four(rows=4,columns=4)"`."""
