"""What an assessor sees and answers, and what the answers settle.

Stages never import one another; what two of them need of assessments lies here:

- what an assessor is given: blind, reading, context, rubric, visible
- what was answered: verdict, samples, blind_judgments, people_labels, pool_signals, item_scores
- what it settles: settlement, decisions, corrections, labels_in_force, label_states; rubric_flags,
  query_changes
- questions that people review: questions, question_events
"""
