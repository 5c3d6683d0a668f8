//! Failing deployments: each reports the cause, the object and the next command, and leaves a state
//! from which the next run continues. They use a fake of the AWS protocols, because emulators do
//! not fail on demand; `emulated` has the faults that an emulator can produce.

mod account;
mod alarms;
mod bucket;
mod changes;
mod connecting;
mod data;
mod emulated;
mod fake;
mod interrupts;
mod limits;
mod manual_changes;
mod permissions;
mod protection;
mod stacks;
mod transcript;
