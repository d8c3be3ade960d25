"""What both scripts share: the queries of the folder `queries`, and printing of their results."""
import json
import pathlib

QUERIES = {path.stem: path.read_text() for path in sorted((pathlib.Path(__file__).parent / "queries").glob("*.sql"))}


def show(results, as_json, most=20):
    """Prints {query: [row as a dict]}."""
    if as_json:
        print(json.dumps(results, default=float))
        return
    for name, rows in results.items():
        print(f"\n{name}")
        for row in rows[:most]:
            print("  " + "  ".join(f"{column}={value:.4g}" if isinstance(value, float) else f"{column}={value}"
                                   for column, value in row.items()))
        if len(rows) > most:
            print(f"  … and {len(rows) - most} more")
