"""A Flink job that predicts the price of each customer's next order: a learner a customer.

    python orders.py --servers localhost:9092 --jar flink-sql-connector-kafka.jar
    python orders.py --file orders.ndjson

An order is a JSON object such as {"customer": "ada", "x": [2, 1.5], "price": 7.0}; without a price
it is predicted and not learnt. With --servers the job reads the topic `orders` and writes the topic
`predictions`; it needs Flink's Kafka connector, which is a jar of its own. With --file it reads the
lines of a file and prints.

Run it in the environment of PyFlink (docs/compat.md, "Flink"), with the library on PYTHONPATH.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.serialization import SimpleStringSchema
from pyflink.datastream import DataStream, OutputTag, StreamExecutionEnvironment

from llr.compat.flink import KeyedLearner

BAD = OutputTag("bad", Types.PICKLED_BYTE_ARRAY())
"""Orders that cannot be learnt, with the reason."""


def features_and_price(order: dict[str, Any]) -> tuple[list[float], float | None]:
    """What the learner sees of an order."""
    return order["x"], order.get("price")


def predictions(orders: DataStream) -> DataStream:
    """For each order its customer, the number of orders learnt so far and the predicted price."""
    learner = KeyedLearner(
        features_and_price, bad=BAD, model="linear", dim=2, options={"second_order": False}
    )
    learnt = (
        orders.map(json.loads, Types.PICKLED_BYTE_ARRAY())
        .key_by(lambda order: order["customer"], Types.STRING())
        .process(learner, Types.PICKLED_BYTE_ARRAY())
    )
    learnt.get_side_output(BAD).map(report, Types.STRING()).print()
    return learnt.map(as_json, Types.STRING())


def as_json(answer: tuple[str, int, float, bool]) -> str:
    """An answer of the learner as a line of JSON."""
    customer, t, prediction, _ = answer
    return json.dumps({"customer": customer, "t": t, "predicted": prediction})


def report(bad: tuple[str, str, dict[str, Any]]) -> str:
    """A line about an order that cannot be learnt."""
    customer, reason, _ = bad
    return f"an order of {customer} cannot be learnt: {reason}"


def over_kafka(env: StreamExecutionEnvironment, servers: str) -> None:
    """Read and write topics, exactly once with Flink's checkpoints."""
    from pyflink.datastream.connectors.kafka import (  # noqa: PLC0415 - needs the jar
        KafkaOffsetsInitializer,
        KafkaRecordSerializationSchema,
        KafkaSink,
        KafkaSource,
    )

    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics("orders")
        .set_group_id("llr-orders")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    record = (
        KafkaRecordSerializationSchema.builder()
        .set_topic("predictions")
        .set_value_serialization_schema(SimpleStringSchema())
        .build()
    )
    sink = KafkaSink.builder().set_bootstrap_servers(servers).set_record_serializer(record).build()
    orders = env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")
    predictions(orders).sink_to(sink)


def main() -> None:
    """Run the job."""
    parser = argparse.ArgumentParser(description="Predict the price of each customer's orders.")
    parser.add_argument("--servers", help="the Kafka brokers")
    parser.add_argument("--jar", type=Path, help="Flink's Kafka connector")
    parser.add_argument("--file", type=Path, help="read orders from a file instead")
    given = parser.parse_args()
    config = Configuration()
    config.set_string("execution.checkpointing.interval", "10s")
    config.set_string("python.executable", sys.executable)
    config.set_string("python.client.executable", sys.executable)
    env = StreamExecutionEnvironment.get_execution_environment(config)
    if given.file is not None:
        env.set_parallelism(1)
        lines = given.file.read_text().splitlines()
        predictions(env.from_collection(lines, Types.STRING())).print()
    elif given.servers and given.jar:
        env.add_jars(given.jar.absolute().as_uri())
        over_kafka(env, given.servers)
    else:
        parser.error("give --servers and --jar, or --file")
    env.execute("orders")


if __name__ == "__main__":
    main()
