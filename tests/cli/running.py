"""Run a command in this process."""

from typer.testing import CliRunner, Result

from memaudit.cli.main import app


def run(*arguments: object, answer: str | None = None) -> Result:
    """The result of `memaudit ARGUMENTS`, on an 80 column terminal; `answer` is typed into it."""
    words = [str(argument) for argument in arguments]
    return CliRunner(env={"COLUMNS": "80"}).invoke(app, words, input=answer)


def failure(*arguments: object) -> str:
    """The one line a failing command prints."""
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line
