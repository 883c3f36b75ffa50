//! Oracles and helpers that the integration tests share.
