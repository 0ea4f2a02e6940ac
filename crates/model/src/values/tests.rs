//! Values in marks and in outputs, and why some are not there.
