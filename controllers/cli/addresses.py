import typer

from meters.floor.addresses import is_listening_address


def check_listening_address(option: str, text: str | None) -> None:
    """Raise `typer.BadParameter` unless an option has the form HOST:PORT."""
    if text is not None and not is_listening_address(text):
        raise typer.BadParameter(
            f'{option} {text}: write an address and a port, such as "127.0.0.1:8090"'
        )
