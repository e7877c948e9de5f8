//! Recovery: from what a crash left on disk to a consistent store.
