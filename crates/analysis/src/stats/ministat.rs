//! The arithmetic of ministat, defects included; nothing else here uses it.
