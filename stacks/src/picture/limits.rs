//! Limits of pictures.

/// Maximum number of arrows. It is the default of Mermaid's setting `maxEdges`, which GitHub uses.
pub const ARROWS_MAX: usize = 500;

/// Maximum length of a picture in bytes. Mermaid's setting `maxTextSize`, whose default GitHub
/// uses, counts characters, so a limit in bytes is stricter.
pub const PICTURE_BYTES_MAX: usize = 50_000;

/// Maximum length of a name in a label, in characters.
pub const NAME_CHARS_MAX: usize = 60;

/// Maximum number of changed parts that the label of a box names. Parts are resources without a box
/// of their own, such as roles.
pub const PARTS_SHOWN_MAX: usize = 3;
