"""A sitting of the app without its screen, which votes and goes on voting; run by test_journal.py.

python unsaved.py DATABASE VOTES

Gives so many votes to the app's writer thread, whatever the database answers, and then waits.
"""

from __future__ import annotations

import queue
import sys
import time

from labeler.cli.review import OpenDesk
from labeler.queue.sitting.gate import Press
from labeler.queue.sitting.machine import Sitting
from tui.messages import Answered, Opened
from tui.writer import Writer

if __name__ == "__main__":
    database, votes = sys.argv[1], int(sys.argv[2])
    messages: queue.SimpleQueue[object] = queue.SimpleQueue()
    sitting = Sitting()
    writer = Writer(lambda: OpenDesk(database, "ana", None, with_skipped=False), messages.put)
    writer.start()
    while sitting.current is None:
        match messages.get():
            case Opened():
                sitting.begin()
            case Answered(answer=answer):
                sitting.answered(answer)
        for order in sitting.take_orders():
            writer.give(order)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(votes):
        assert sitting.current is not None
        sitting.pressed(Press(f"key {number}", number))
        sitting.vote(sitting.current.block.rubric.scale.levels[number % 3])
        for order in sitting.take_orders():
            writer.give(order)
    print("given", flush=True)
    time.sleep(600)
