"""A reviewer in a process of its own; run by test_two_processes.py.

python voter.py ADDRESS NAME LEASE_SECONDS

Says ``ready``, waits for a line, then claims and votes until nothing is left; prints what became of
each vote, with its item.
"""

from __future__ import annotations

import sys
import uuid
from datetime import timedelta

from labeler.assessment.reading import blocks_of
from labeler.queue.claims import claim
from labeler.queue.votes import Event, record_event
from labeler.records.queue import EventKind
from labeler.records.scales import AssessorKind
from labeler.store.database import open_store
from labeler.store.location import Location
from labeler.store.registry import assessor_key

if __name__ == "__main__":
    address, name, lease = sys.argv[1], sys.argv[2], timedelta(seconds=float(sys.argv[3]))
    with open_store(Location(address)) as store:
        with store.write("review start", actor=name) as tx:
            reviewer = assessor_key(tx, AssessorKind.PERSON, name)
        print("ready", flush=True)
        sys.stdin.readline()
        while claims := claim(store, reviewer, 3, lease=lease):
            for held in claims:
                with store.read() as connection:
                    block = blocks_of(connection, [held.item_id], seed="")[0]
                event = Event(
                    str(uuid.uuid4()), EventKind.VOTE, block, level=block.rubric.scale.levels[0]
                )
                print(record_event(store, reviewer, held, event).value, held.item_id, flush=True)
