"""`solve serve`: the web page and its JSON API."""

from __future__ import annotations

import ipaddress
import logging
import os
import re
import signal
import socket
import sys
import threading
import webbrowser
from pathlib import Path

import click

from perfectplay.cli._common import directory_option
from perfectplay.cli._terminal import hanging
from perfectplay.errors import PerfectPlayError, UsageError, needs_extra
from perfectplay.game import plugins

_LOCAL_NAMES = {"localhost", "127.0.0.1", "::1"}


@click.command("serve")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8017,
    show_default=True,
    help="Port to listen on; 0 for any free port.",
)
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME", help="Another host name of this server; may be repeated."
)
@click.option(
    "--embed", "framers", multiple=True, metavar="SITE", help="A site that may show boards in frames; * for all sites."
)
@directory_option
@click.option(
    "--compile/--no-compile",
    "compile_rules",
    default=True,
    help="Translate rules in Python to C if possible (the default), or call them in Python.",
)
@click.option(
    "--open/--no-open", "open_page", default=None, help="Open the page in a browser (default: if run in a terminal)."
)
def command(
    files: tuple[str, ...],
    host: str,
    port: int,
    names: tuple[str, ...],
    framers: tuple[str, ...],
    directory: Path | None,
    compile_rules: bool,
    open_page: bool | None,
) -> None:
    """Explore solved games in a browser, and play against perfect play.

    Games in a FILE (./mygame.py) are served in addition to the installed ones. By default only this machine can
    connect; see --host. The JSON API is under /api.
    """
    with needs_extra("web", "`solve serve`"):
        import uvicorn

        from perfectplay.compile.kernel import SWITCH
        from perfectplay.web.app import make_app, server_options
        from perfectplay.web.library import Library
        from perfectplay.web.requests import is_worth_logging

    if not compile_rules:
        os.environ[SWITCH] = "0"
    for site in framers:
        if not re.fullmatch(r"\*|https?://[A-Za-z0-9.*-]+(:\d+)?", site):
            raise UsageError(f"--embed takes a site such as https://example.org, or *, not {site!r}")
    listener = _listen(host, port)
    local = _is_local(host)
    library = Library(directory, files=map(_game_file, files))
    hosts = {*_LOCAL_NAMES, host, *names} if local else {*_LOCAL_NAMES, host, socket.gethostname(), *names}
    app = make_app(library, hosts=hosts, open_to_others=not local, may_solve=local, framers=framers)
    port = listener.getsockname()[1]
    click.echo(f"Serving at {_address(socket.gethostname() if _is_wildcard(host) else host, port)} (Ctrl-C stops)")
    if not local:
        click.echo("Other machines can connect to this server.")
    ready = [name for name, served in library.games.items() if served.table is not None]
    click.echo(hanging("Solved: ", ", ".join(ready).split()) if ready else "No game is solved yet.")
    if sys.stdout.isatty() if open_page is None else open_page:
        webbrowser.open(_address("localhost" if _is_wildcard(host) else host, port))
    options = server_options(open_to_others=not local)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, **options)
    logging.getLogger("uvicorn.error").addFilter(is_worth_logging)
    # uvicorn ends its requests on SIGTERM, and then raises the signal again, which would end the process by it.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        # Python would wait for requests that still run in threads, though they have been answered with an error.
        code = 130 if isinstance(sys.exc_info()[1], KeyboardInterrupt) else 0
        last_resort = threading.Timer(1, os._exit, [code])
        last_resort.daemon = True
        last_resort.start()


def _listen(host: str, port: int) -> socket.socket:
    """Open the port first, so that a port in use is reported at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()  # a browser that connects before the server runs will wait
    except (UnicodeError, socket.gaierror):
        raise PerfectPlayError(f"cannot listen on {host}: it is not a valid host name or address") from None
    except OSError as error:
        raise PerfectPlayError(
            f"cannot listen on {host}, port {port}: {error.strerror}; try another --port, or --port 0 for any free port"
        ) from error
    return listener


def _game_file(word: str) -> str:
    if not plugins.is_file(word):
        raise UsageError(f"{word!r} is not a Python file; installed games are always served, so do not list them")
    return word


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _is_wildcard(host: str) -> bool:
    """Return whether this means all addresses of the machine, as 0.0.0.0 does. A browser cannot open it."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
