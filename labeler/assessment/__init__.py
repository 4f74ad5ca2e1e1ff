"""What an assessor sees and answers, what the answers settle, and what stages read of each other.

Stages never import one another; what two of them need lies here. By what it is about:

- what an assessor is given: blind, reading, context, rubric, visible
- what was answered: verdict, samples, blind_judgments, people_labels, pool_signals, item_scores
- what it settles: settlement, decisions, corrections, labels_in_force, label_states; rubric_flags,
  query_changes
- what runs found: runs, rankings, collapse, judged_rankings; queries: query_facts, clusters
- random draws: frames, drawn_samples; those of the audit: audit_frames, audit_ledger
- what is sealed: split_in_force, split_texts, openings, exposures; questions, question_events
"""
