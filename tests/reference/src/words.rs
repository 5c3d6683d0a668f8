//! Product names and the words of notes, composed from lists of parts.

/// Returns a product's name. `number` must be below `PRODUCTS`.
#[must_use]
pub fn product_name(number: u32) -> String {
    const MATERIALS: [&str; 20] = [
        "Steel",
        "Brass",
        "Oak",
        "Pine",
        "Copper",
        "Nylon",
        "Rubber",
        "Glass",
        "Cotton",
        "Leather",
        "Ceramic",
        "Aluminium",
        "Bamboo",
        "Cork",
        "Felt",
        "Marble",
        "Paper",
        "Silicone",
        "Slate",
        "Wool",
    ];
    const THINGS: [&str; 10] = [
        "Bracket",
        "Hinge",
        "Handle",
        "Panel",
        "Washer",
        "Coaster",
        "Tray",
        "Hook",
        "Lamp Base",
        "Connector",
    ];
    let material = pick(&MATERIALS, number % 20);
    let thing = pick(&THINGS, number / 20 % 10);
    format!("{material} {thing}")
}

/// Returns a word of 2 to 7 letters for notes. Words are unique for numbers below `WORDS`.
#[must_use]
pub fn word(number: u32) -> String {
    const BEGINNINGS: [&str; 16] = [
        "de", "ship", "lo", "ma", "re", "con", "pa", "tra", "be", "for", "in", "o", "sta", "ul",
        "ven", "wi",
    ];
    const ENDS: [&str; 16] = [
        "lay", "ter", "n", "port", "cal", "d", "ked", "sent", "ly", "mit", "vel", "ring", "te",
        "gas", "st", "ble",
    ];
    [pick(&BEGINNINGS, number % 16), pick(&ENDS, number / 16 % 16)].concat()
}

fn pick(list: &[&'static str], number: u32) -> &'static str {
    usize::try_from(number).ok().and_then(|at| list.get(at)).copied().unwrap_or_default()
}
