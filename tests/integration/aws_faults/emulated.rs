//! On an emulator that others wrote.
