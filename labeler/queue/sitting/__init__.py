"""A reviewer's sitting: a state machine without a screen, and what it asks of the database.

A passage to be labelled is the one kind of item so far. Where another kind goes, such as a
generated question that is accepted, edited or rejected:

- The machine (``machine``, ``held``, ``gate``, ``outbox``) knows of an item its ``claim``, by which
  it is held, and its ``answers``, in the order of the keys; None among them asks for one more key
  that says why. It never looks at what an answer means. So another kind is another class beside
  `orders.Shown` with these two, and its own order beside `orders.Vote` where more than an answer is
  to be stored, such as an edited text.
- What an answer does to the database is a desk's business. A second desk takes the same orders and
  gives the same answers as `desk.Desk`; `labeler.queue.dispute_desk` is one.
- An event that must survive a database that doesn't take it has a line in ``journal`` and a case in
  ``replay``, as proposals have beside votes.
- The screen shows what `tui.widgets.item.ItemPane.show` is given: passages and, after the vote,
  what judges said. A third kind is a third case there, with a text from `tui.text`.
"""
