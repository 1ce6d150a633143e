"""What searches and chains over feature sets share."""
