//! Inia's test tools: simulated disk, seeded randomness, golden scripts, house rules.
