"""The queries over the files of `argus fleet export DIR`, on one machine, by DuckDB (PyPI: duckdb).

    python3 with_duckdb.py DIR [--json]
"""
import pathlib
import sys

import duckdb

from fleet_queries import QUERIES, show


def connect(folder):
    database = duckdb.connect()
    database.execute(f"""CREATE TABLE hangs AS SELECT * FROM read_json('{folder}/hangs/day=*/*.jsonl',
        format='newline_delimited', hive_partitioning=true, union_by_name=true, sample_size=-1)""")
    database.execute("CREATE VIEW shares AS SELECT key, s.reason, s.ns FROM (SELECT key, unnest(shares) AS s FROM hangs)")
    return database


def run(folder):
    database, results = connect(folder), {}
    for name, sql in QUERIES.items():
        cursor = database.execute(sql)
        columns = [column[0] for column in cursor.description]
        results[name] = [dict(zip(columns, row)) for row in cursor.fetchall()]
    return results


if __name__ == "__main__":
    if not any(pathlib.Path(sys.argv[1]).glob("hangs/day=*/*.jsonl")):
        sys.exit(f"no hangs in {sys.argv[1]}")
    show(run(sys.argv[1].replace("'", "''")), "--json" in sys.argv)
