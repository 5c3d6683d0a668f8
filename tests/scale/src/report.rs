//! The table of a measurement, in Markdown.

use std::fmt::Write as _;

use crate::figures::{Quantity, SizeFigures, Step, StepFigures};
use crate::growth::exponent_of;

/// Returns a table with a row for each step and a column for each size.
pub(crate) fn format_table(sizes: &[SizeFigures]) -> String {
    let mut table = "| step |".to_owned();
    for size in sizes {
        let _ = write!(table, " {} cells |", format_count(size.cells as f64));
    }
    table.push_str(" exponent of time, memory, dollars |\n|---|");
    table.push_str(&"---|".repeat(sizes.len() + 1));
    table.push('\n');
    for step in Step::ALL {
        push_step(&mut table, sizes, step);
    }
    table.push_str("| csv file; objects in the bucket at the end |");
    for size in sizes {
        let csv = format_bytes(size.csv_bytes as f64);
        let (objects, bytes) = (size.stored_objects, format_bytes(size.stored_bytes as f64));
        let _ = write!(table, " {csv}; {} objects, {bytes} |", format_count(objects as f64));
    }
    table.push_str(" |\n");
    table
}

fn push_step(table: &mut String, sizes: &[SizeFigures], step: Step) {
    let _ = write!(table, "| {} |", step.label());
    for size in sizes {
        let figures = size.steps.iter().find(|figures| figures.step == step);
        let text = figures.map_or_else(|| "-".to_owned(), format_figures);
        let _ = write!(table, " {text} |");
    }
    let exponent_text = |quantity| match exponent_of(sizes, step, quantity) {
        // Adding zero removes the sign of a negative zero.
        Some(exponent) => format!("{:.2}", (exponent * 100.0).round() / 100.0 + 0.0),
        None => "-".to_owned(),
    };
    let memory = exponent_text(memory_quantity(step));
    let (time, dollars) = (exponent_text(Quantity::Wall), exponent_text(Quantity::Dollars));
    let _ = writeln!(table, " {time}, {memory}, {dollars} |");
}

/// Returns the memory of the process that does most of the work of a step.
const fn memory_quantity(step: Step) -> Quantity {
    match step {
        Step::Import | Step::Export | Step::Diff => Quantity::ClientMemory,
        _ => Quantity::StackMemory,
    }
}

/// Returns the line that is printed when a step has been measured.
pub(crate) fn progress_line(figures: &StepFigures) -> String {
    format!("  {}: {}", figures.step.label(), format_figures(figures))
}

/// Formats figures of a step, such as `2.6 s; 1.2 + 2.2 CPU s; 34 + 120 MB; 237 objects; $0.0025`.
fn format_figures(figures: &StepFigures) -> String {
    let objects = match figures.added_objects {
        0 => String::new(),
        1 => " 1 object;".to_owned(),
        objects => format!(" {} objects;", format_count(objects as f64)),
    };
    format!(
        "{} s; {} + {} CPU s; {:.0} + {:.0} MB;{objects} ${}",
        format_seconds(figures.wall_s),
        format_seconds(figures.client_cpu_s),
        format_seconds(figures.stack_cpu_s),
        figures.client_peak_bytes as f64 / 1e6,
        figures.stack_peak_bytes as f64 / 1e6,
        format_dollars(figures.dollars)
    )
}

/// Formats seconds with two or three significant digits.
fn format_seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => format!("{seconds:.2}"),
        seconds if seconds < 100.0 => format!("{seconds:.1}"),
        seconds => format!("{seconds:.0}"),
    }
}

fn format_dollars(dollars: f64) -> String {
    match dollars {
        dollars if dollars < 1e-3 => format!("{dollars:.7}"),
        dollars => format!("{dollars:.4}"),
    }
}

/// Formats a number with a unit of a thousand, a million or a billion, such as `10 million`.
pub(crate) fn format_count(count: f64) -> String {
    match count {
        count if count >= 1e9 => format!("{} billion", trim(count / 1e9)),
        count if count >= 1e6 => format!("{} million", trim(count / 1e6)),
        count if count >= 1e4 => format!("{} thousand", trim(count / 1e3)),
        count => trim(count),
    }
}

/// Formats bytes with a decimal unit, such as `30.7 MB`.
pub(crate) fn format_bytes(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e9 => format!("{} GB", trim(bytes / 1e9)),
        bytes if bytes >= 1e6 => format!("{} MB", trim(bytes / 1e6)),
        bytes if bytes >= 1e3 => format!("{} KB", trim(bytes / 1e3)),
        bytes => format!("{bytes:.0} bytes"),
    }
}

/// Formats a number with at most one decimal.
fn trim(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use cellar_api::cost::Cost;

    use super::*;

    fn size(cells: u64, wall_s: f64) -> SizeFigures {
        let cost = Cost { write_units: 1, ..Cost::default() };
        let figures = StepFigures {
            wall_s,
            client_cpu_s: 0.5,
            stack_cpu_s: 12.34,
            client_peak_bytes: 34_400_000,
            stack_peak_bytes: 120_000_000,
            added_objects: 23_700,
            ..StepFigures::of_cost(Step::Import, &cost)
        };
        let steps = vec![figures];
        SizeFigures { cells, csv_bytes: 95_000_000, stored_objects: 1, stored_bytes: 900, steps }
    }

    #[test]
    fn the_table_has_a_row_for_each_step() {
        let table = format_table(&[size(10_000_000, 2.0), size(1_000_000_000, 200.0)]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), Step::ALL.len() + 3);
        let header =
            "| step | 10 million cells | 1 billion cells | exponent of time, memory, dollars |";
        assert_eq!(lines[0], header);
        let rest = "0.50 + 12.3 CPU s; 34 + 120 MB; 23.7 thousand objects; $0.0000006";
        let import = format!("| import | 2.0 s; {rest} | 200 s; {rest} | 1.00, 0.00, 0.00 |");
        assert_eq!(lines[2], import);
        assert_eq!(lines[3], "| view first rows | - | - | -, -, - |");
        assert!(lines[14].contains(" 95 MB; 1 objects, 900 bytes |"), "{}", lines[14]);
        let bars = lines[0].matches('|').count();
        assert!(lines.iter().all(|line| line.matches('|').count() == bars));
    }
}
