//! The fault of a state machine that received an event which its phase cannot take.

/// A state machine received an event that its phase cannot take. This is a bug of Cellar: the
/// driver of the machine returned the result of another action. It says nothing about a store.
///
/// The texts are names of types and variants. They contain no user data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("bug in Cellar: the {machine} received the event {event} in the phase {phase}")]
pub struct UnexpectedEvent {
    /// Name of the state machine.
    pub machine: &'static str,
    /// Name of its phase.
    pub phase: &'static str,
    /// Name of the event.
    pub event: &'static str,
}

/// Implements the method `name` of an enumeration, which returns the name of the variant.
#[macro_export]
macro_rules! variant_names {
    ($type:ty { $($variant:ident),+ $(,)? }) => {
        impl $type {
            /// Returns the name of the variant.
            pub(crate) fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($variant),)+
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Event {
        Waited,
        Page { _count: u32 },
        State(#[expect(dead_code, reason = "only its name is tested")] u32),
    }

    variant_names!(Event { Waited, Page, State });

    #[test]
    fn variants_have_names() {
        let events = [Event::Waited, Event::Page { _count: 1 }, Event::State(2)];
        assert_eq!(events.map(|event| event.name()), ["Waited", "Page", "State"]);
        let fault = UnexpectedEvent { machine: "append", phase: "Reading", event: "Waited" };
        let text = "bug in Cellar: the append received the event Waited in the phase Reading";
        assert_eq!(fault.to_string(), text);
    }
}
