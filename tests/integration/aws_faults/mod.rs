//! Bad deployments: each says the cause, the object and the next command, and leaves nothing half
//! forgotten. Against a fake of AWS's protocols, since no emulator fails on demand; what an emulator
//! does fail at is in `emulated`.

mod account;
mod bucket;
mod changes;
mod connecting;
mod emulated;
mod fake;
mod interrupts;
mod permissions;
mod stacks;
mod transcript;
