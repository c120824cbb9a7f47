"""librdkafka's mock cluster: three brokers in this process, on free ports of loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

TIMEOUT = 30.0


class MockKafka:
    """A cluster of three brokers; a topic has four partitions and is made by its first message."""

    def __init__(self) -> None:
        self.producer = Producer(
            {"bootstrap.servers": "", "test.mock.num.brokers": 3, "log_level": 0}
        )
        brokers = self.producer.list_topics(timeout=TIMEOUT).brokers.values()
        self.servers = ",".join(f"{one.host}:{one.port}" for one in brokers)

    def send(self, topic: str, *values: str | None, partition: int = 0, **options: Any) -> None:
        """Send messages, in order; they are stored when this returns."""
        for value in values:
            while True:
                try:
                    self.producer.produce(topic, value=value, partition=partition, **options)
                    break
                except BufferError:
                    self.producer.poll(0.1)
        assert self.producer.flush(TIMEOUT) == 0

    def messages(self, topic: str, count: int, partition: int = 0) -> list[Any]:
        """The first messages of a partition."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "reader"})
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
        found = consumer.consume(count, TIMEOUT)
        consumer.close()
        return found

    def size(self, topic: str, partition: int) -> int:
        """The number of messages of a partition."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "reader"})
        _, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=TIMEOUT)
        consumer.close()
        return int(high)

    def committed(self, group: str, topic: str, partition: int = 0) -> int:
        """The offset committed for a group."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": group})
        (found,) = consumer.committed([TopicPartition(topic, partition)], timeout=TIMEOUT)
        consumer.close()
        return int(found.offset)


@contextmanager
def mock_kafka() -> Iterator[MockKafka]:
    cluster = MockKafka()
    try:
        yield cluster
    finally:
        cluster.producer.purge()
        cluster.producer.flush(1)
