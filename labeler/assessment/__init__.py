"""What an assessor sees and answers, and what the answers settle."""
