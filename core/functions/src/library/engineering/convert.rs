//! `CONVERT`.

use cellar_sheet::cell::ErrorCode;

use crate::call::{Call, ensure, number_result};
use crate::function::{Function, eager};
use crate::operand::{Operand, Outcome};

pub(super) static FUNCTIONS: &[Function] = &[eager("CONVERT", 3, 3, "s", convert)];

/// The quantity that a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Mass,
    Length,
    Time,
    Pressure,
    Force,
    Energy,
    Power,
    Magnetism,
    Temperature,
    Volume,
    Area,
    Information,
    Speed,
}

use Quantity::{
    Area, Energy, Force, Information, Length, Magnetism, Mass, Power, Pressure, Speed, Temperature,
    Time, Volume,
};

const INCH: f64 = 0.0254;
const FOOT: f64 = 0.3048;
const YARD: f64 = 0.9144;
const MILE: f64 = 1_609.344;
const NAUTICAL_MILE: f64 = 1_852.0;
const SURVEY_MILE: f64 = 6_336_000.0 / 3_937.0;
const PICA_POINT: f64 = INCH / 72.0;
const LIGHT_YEAR: f64 = 9.460_730_472_580_8e15;
const POUND: f64 = 453.592_37;
const TEASPOON: f64 = 4.928_921_593_75e-6;
const IMPERIAL_PINT: f64 = 5.682_612_5e-4;
const HORSEPOWER: f64 = 745.699_871_582_270_2;

/// The names of a unit, its quantity, its size in base units, and whether it accepts metric
/// prefixes.
type Unit = (&'static [&'static str], Quantity, f64, bool);

static UNITS: &[Unit] = &[
    (&["g"], Mass, 1.0, true),
    (&["sg"], Mass, 14_593.902_937_206_37, false),
    (&["lbm"], Mass, POUND, false),
    (&["u"], Mass, 1.660_538_782e-24, true),
    (&["ozm"], Mass, POUND / 16.0, false),
    (&["grain"], Mass, POUND / 7_000.0, false),
    (&["cwt", "shweight"], Mass, POUND * 100.0, false),
    (&["uk_cwt", "lcwt", "hweight"], Mass, POUND * 112.0, false),
    (&["stone"], Mass, POUND * 14.0, false),
    (&["ton"], Mass, POUND * 2_000.0, false),
    (&["uk_ton", "LTON", "brton"], Mass, POUND * 2_240.0, false),
    (&["m"], Length, 1.0, true),
    (&["mi"], Length, MILE, false),
    (&["Nmi"], Length, NAUTICAL_MILE, false),
    (&["in"], Length, INCH, false),
    (&["ft"], Length, FOOT, false),
    (&["yd"], Length, YARD, false),
    (&["ang"], Length, 1e-10, true),
    (&["ell"], Length, 1.143, false),
    (&["ly"], Length, LIGHT_YEAR, true),
    (&["parsec", "pc"], Length, 3.085_677_581_281_55e16, true),
    (&["Picapt", "Pica"], Length, PICA_POINT, false),
    (&["pica"], Length, INCH / 6.0, false),
    (&["survey_mi"], Length, SURVEY_MILE, false),
    (&["yr"], Time, 31_557_600.0, false),
    (&["day", "d"], Time, 86_400.0, false),
    (&["hr"], Time, 3_600.0, false),
    (&["mn", "min"], Time, 60.0, false),
    (&["sec", "s"], Time, 1.0, true),
    (&["Pa", "p"], Pressure, 1.0, true),
    (&["atm", "at"], Pressure, 101_325.0, true),
    (&["mmHg"], Pressure, 133.322, true),
    (&["psi"], Pressure, 6_894.757_293_168_361, false),
    (&["Torr"], Pressure, 101_325.0 / 760.0, false),
    (&["N"], Force, 1.0, true),
    (&["dyn", "dy"], Force, 1e-5, true),
    (&["lbf"], Force, 4.448_221_615_260_5, false),
    (&["pond"], Force, 9.806_65e-3, true),
    (&["J"], Energy, 1.0, true),
    (&["e"], Energy, 1e-7, true),
    (&["c"], Energy, 4.184, true),
    (&["cal"], Energy, 4.1868, true),
    (&["eV", "ev"], Energy, 1.602_176_487e-19, true),
    (&["HPh", "hh"], Energy, HORSEPOWER * 3_600.0, false),
    (&["Wh", "wh"], Energy, 3_600.0, true),
    (&["flb"], Energy, 1.355_817_948_331_400_4, false),
    (&["BTU", "btu"], Energy, 1_055.055_852_62, false),
    (&["HP", "h"], Power, HORSEPOWER, false),
    (&["PS"], Power, 735.498_75, false),
    (&["W", "w"], Power, 1.0, true),
    (&["T"], Magnetism, 1.0, true),
    (&["ga"], Magnetism, 1e-4, true),
    (&["C", "cel"], Temperature, 1.0, false),
    (&["F", "fah"], Temperature, 1.0, false),
    (&["K", "kel"], Temperature, 1.0, true),
    (&["Rank"], Temperature, 1.0, false),
    (&["Reau"], Temperature, 1.0, false),
    (&["tsp"], Volume, TEASPOON, false),
    (&["tspm"], Volume, 5e-6, false),
    (&["tbs"], Volume, TEASPOON * 3.0, false),
    (&["oz"], Volume, TEASPOON * 6.0, false),
    (&["cup"], Volume, TEASPOON * 48.0, false),
    (&["pt", "us_pt"], Volume, TEASPOON * 96.0, false),
    (&["uk_pt"], Volume, IMPERIAL_PINT, false),
    (&["qt"], Volume, TEASPOON * 192.0, false),
    (&["uk_qt"], Volume, IMPERIAL_PINT * 2.0, false),
    (&["gal"], Volume, TEASPOON * 768.0, false),
    (&["uk_gal"], Volume, IMPERIAL_PINT * 8.0, false),
    (&["l", "L", "lt"], Volume, 1e-3, true),
    (&["ang3", "ang^3"], Volume, 1e-30, true),
    (&["barrel"], Volume, 0.158_987_294_928, false),
    (&["bushel"], Volume, 0.035_239_070_166_88, false),
    (&["ft3", "ft^3"], Volume, FOOT * FOOT * FOOT, false),
    (&["in3", "in^3"], Volume, INCH * INCH * INCH, false),
    (&["ly3", "ly^3"], Volume, LIGHT_YEAR * LIGHT_YEAR * LIGHT_YEAR, false),
    (&["m3", "m^3"], Volume, 1.0, true),
    (&["mi3", "mi^3"], Volume, MILE * MILE * MILE, false),
    (&["yd3", "yd^3"], Volume, YARD * YARD * YARD, false),
    (&["Nmi3", "Nmi^3"], Volume, NAUTICAL_MILE * NAUTICAL_MILE * NAUTICAL_MILE, false),
    (
        &["Picapt3", "Picapt^3", "Pica3", "Pica^3"],
        Volume,
        PICA_POINT * PICA_POINT * PICA_POINT,
        false,
    ),
    (&["GRT", "regton"], Volume, 2.831_684_659_2, false),
    (&["MTON"], Volume, 1.132_673_863_68, false),
    (&["uk_acre"], Area, 4_046.856_422_4, false),
    (&["us_acre"], Area, SURVEY_MILE * SURVEY_MILE / 640.0, false),
    (&["ang2", "ang^2"], Area, 1e-20, true),
    (&["ar"], Area, 100.0, true),
    (&["ft2", "ft^2"], Area, FOOT * FOOT, false),
    (&["ha"], Area, 10_000.0, false),
    (&["in2", "in^2"], Area, INCH * INCH, false),
    (&["ly2", "ly^2"], Area, LIGHT_YEAR * LIGHT_YEAR, false),
    (&["m2", "m^2"], Area, 1.0, true),
    (&["Morgen"], Area, 2_500.0, false),
    (&["mi2", "mi^2"], Area, MILE * MILE, false),
    (&["Nmi2", "Nmi^2"], Area, NAUTICAL_MILE * NAUTICAL_MILE, false),
    (&["Picapt2", "Pica2", "Pica^2", "Picapt^2"], Area, PICA_POINT * PICA_POINT, false),
    (&["yd2", "yd^2"], Area, YARD * YARD, false),
    (&["bit"], Information, 1.0, true),
    (&["byte"], Information, 8.0, true),
    (&["admkn"], Speed, 0.514_773_333_333_333_3, false),
    (&["kn"], Speed, NAUTICAL_MILE / 3_600.0, false),
    (&["m/h", "m/hr"], Speed, 1.0 / 3_600.0, true),
    (&["m/s", "m/sec"], Speed, 1.0, true),
    (&["mph"], Speed, 0.447_04, false),
];

static PREFIXES: [(&str, f64); 21] = [
    ("Y", 1e24),
    ("Z", 1e21),
    ("E", 1e18),
    ("P", 1e15),
    ("T", 1e12),
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("h", 1e2),
    ("da", 1e1),
    ("e", 1e1),
    ("d", 1e-1),
    ("c", 1e-2),
    ("m", 1e-3),
    ("u", 1e-6),
    ("n", 1e-9),
    ("p", 1e-12),
    ("f", 1e-15),
    ("a", 1e-18),
    ("z", 1e-21),
    ("y", 1e-24),
];
static BINARY_PREFIXES: [(&str, i32); 8] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
    ("Zi", 70),
    ("Yi", 80),
];

fn find(name: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| unit.0.contains(&name))
}

/// Parses a unit with an optional prefix. Returns its canonical name without the prefix, its
/// quantity, and its size including the prefix.
fn unit_of(name: &str) -> Option<(&'static str, Quantity, f64)> {
    let first = |unit: &'static Unit| unit.0.first().copied().unwrap_or("");
    if let Some(unit) = find(name) {
        return Some((first(unit), unit.1, unit.2));
    }
    for (prefix, exponent) in BINARY_PREFIXES {
        if let Some(unit) = name.strip_prefix(prefix).and_then(find)
            && unit.1 == Information
        {
            return Some((first(unit), unit.1, unit.2 * 2_f64.powi(exponent)));
        }
    }
    for (prefix, factor) in PREFIXES {
        if let Some(unit) = name.strip_prefix(prefix).and_then(find)
            && unit.3
        {
            let dimension = match unit.1 {
                Area if first(unit) != "ar" => 2,
                Volume if first(unit) != "l" => 3,
                _ => 1,
            };
            return Some((first(unit), unit.1, unit.2 * factor.powi(dimension)));
        }
    }
    None
}

fn convert(call: &Call<'_, '_>) -> Outcome<Operand> {
    let number = call.number(0)?;
    let from = unit_of(&call.text(1)?).ok_or(ErrorCode::NotAvailable)?;
    let to = unit_of(&call.text(2)?).ok_or(ErrorCode::NotAvailable)?;
    ensure(from.1 == to.1, ErrorCode::NotAvailable)?;
    if from.1 == Temperature {
        let kelvin = to_kelvin(from.0, number * from.2);
        return number_result(if from.0 == to.0 {
            number * from.2 / to.2
        } else {
            from_kelvin(to.0, kelvin) / to.2
        });
    }
    number_result(number * from.2 / to.2)
}

const FREEZING: f64 = 273.15;

fn to_kelvin(unit: &str, degrees: f64) -> f64 {
    match unit {
        "C" => degrees + FREEZING,
        "F" => (degrees - 32.0) / 1.8 + FREEZING,
        "Rank" => degrees / 1.8,
        "Reau" => degrees * 1.25 + FREEZING,
        _ => degrees,
    }
}

fn from_kelvin(unit: &str, kelvin: f64) -> f64 {
    match unit {
        "C" => kelvin - FREEZING,
        "F" => (kelvin - FREEZING) * 1.8 + 32.0,
        "Rank" => kelvin * 1.8,
        "Reau" => (kelvin - FREEZING) * 0.8,
        _ => kelvin,
    }
}
