"""Every write into a Claude home: changes, their steps, locks, and how they are undone. No other room writes there."""
