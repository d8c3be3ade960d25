"""The queries over the files of `argus fleet export DIR`, by Apache Spark (PyPI: pyspark, needs Java).

    python3 with_spark.py DIR [--json]                          # on this machine
    spark-submit with_spark.py hdfs:///hangs                   # the same on a cluster
"""
import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql.utils import AnalysisException

from fleet_queries import QUERIES, show

# Without a schema, Spark reads all files twice, and a column that is always null has no type.
SCHEMA = """key STRING, signature STRING, what STRING, machine STRING, program STRING, version STRING, wall_ns BIGINT,
    duration_ns BIGINT, culprit_package STRING, culprit_image STRING, culprit_program STRING,
    shares ARRAY<STRUCT<reason: STRING, ns: BIGINT>>"""


def start():
    builder = SparkSession.builder.appName("argus fleet").config("spark.ui.showConsoleProgress", "false")
    if "SPARK_ENV_LOADED" not in os.environ:  # spark-submit names the master itself
        builder = builder.master("local[*]").config("spark.sql.shuffle.partitions", "4").config("spark.ui.enabled", "false")
    return builder.getOrCreate()


def read(spark, folder):
    try:
        hangs = spark.read.schema(SCHEMA).json(f"{folder}/hangs").cache()
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error) or "Path does not exist" in str(error):
            sys.exit(f"no hangs in {folder}")
        raise
    if not hangs.head(1):
        sys.exit(f"no hangs in {folder}")
    return hangs


def run(folder):
    spark, results = start(), {}
    spark.sparkContext.setLogLevel("ERROR")
    read(spark, folder).createOrReplaceTempView("hangs")
    spark.sql("SELECT key, s.reason AS reason, s.ns AS ns FROM (SELECT key, explode(shares) AS s FROM hangs)") \
        .createOrReplaceTempView("shares")
    for name, sql in QUERIES.items():
        results[name] = [row.asDict() for row in spark.sql(sql).collect()]
    spark.stop()
    return results


if __name__ == "__main__":
    show(run(sys.argv[1]), "--json" in sys.argv)
