"""The order in force is read back from what routing recorded of itself."""

from __future__ import annotations

from labeler.queue.order import ORDERS
from labeler.queue.routed import command_of, order_in_force
from labeler.store.database import Store


def routed(store: Store, pool: str, order: str, policy: str = "nine-of-ten") -> None:
    with store.write(command_of(pool, policy, ORDERS[order])) as tx:
        assert tx.revision_id


def in_force(store: Store, pool: str) -> str | None:
    with store.read() as connection:
        return order_in_force(connection, pool)


def test_each_pool_has_its_own_order_whatever_it_is_called(store: Store) -> None:
    orders = {"a_b": "margin", "axb": "oldest", "a": "random", "a b": "dispute", "100%": "value"}
    for pool, order in orders.items():
        routed(store, pool, order)
    assert {pool: in_force(store, pool) for pool in orders} == orders
    assert in_force(store, "never routed") is None


def test_the_latest_one_counts_and_a_policy_s_name_misleads_nobody(store: Store) -> None:
    routed(store, "p", "margin")
    routed(store, "p", "oldest", policy="mine --order random")
    assert in_force(store, "p") == "oldest"


def test_a_routing_that_recorded_no_order_tells_none(store: Store) -> None:
    with store.write("route p --policy nine-of-ten") as tx:
        assert tx.revision_id
    assert in_force(store, "p") is None
