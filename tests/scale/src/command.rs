//! The `scale` command, which parses arguments and prints figures.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use cellar_reference_data::COLUMNS;
use clap::Parser;
use clap::error::ErrorKind;
use serde::Serialize;

use crate::ScaleError;
use crate::figures::{SizeFigures, StepFigures};
use crate::growth::list_fast_growth;
use crate::picture::draw;
use crate::report::{format_count, format_table, progress_line};
use crate::scenario::measure_size;
use crate::stack::Programs;

/// Exit code if a quantity grows faster than it may.
const EXIT_FAST_GROWTH: u8 = 1;
/// Exit code if the measurement could not be made.
const EXIT_NOT_RUN: u8 = 2;
/// Exit code of a usage error.
const EXIT_USAGE: u8 = 64;
/// Smallest size, which has more rows than are edited.
const MIN_CELLS: u64 = 10_000;
/// Largest size, which almost has the maximum number of rows.
const MAX_CELLS: u64 = 10_000_000_000;
const MILLION: u64 = 1_000_000;

/// Measure how time, memory, objects and cost grow with the number of cells
#[derive(Debug, Parser)]
#[command(
    name = "scale",
    version,
    after_help = "\
Examples:
  scale                                        10, 100 and 1,000 million cells
  scale --cells 1m,10m --json > scale.json     a quick look
  scale --picture docs/images/scale.svg

A billion cells need 30 GB of disk: 10 GB for the csv file, which is deleted after its import, 6 GB for the \
objects and their uploads, and 11 GB for a temporary file of the export.

Exit codes: 0 success; 1 something grows faster than it may; 2 the measurement could not be made, or a result was \
wrong; 64 usage error."
)]
struct Arguments {
    /// Sizes in cells, of which 92.5 % are not blank; `m` is a million
    #[arg(long, value_name = "SIZES", value_delimiter = ',', default_value = "10m,100m,1000m",
        value_parser = parse_rows)]
    cells: Vec<u32>,
    /// The `synth` command [default: beside this program]
    #[arg(long, value_name = "PATH")]
    synth: Option<PathBuf>,
    /// The `cellar` command [default: beside this program]
    #[arg(long, value_name = "PATH")]
    cellar: Option<PathBuf>,
    /// Folder for the local stack and the csv file [default: the temporary folder]
    #[arg(long, value_name = "PATH")]
    folder: Option<PathBuf>,
    /// Draw the figures into this SVG file
    #[arg(long, value_name = "PATH")]
    picture: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// All figures.
#[derive(Serialize)]
struct Report {
    processors: usize,
    /// Load averages before and after the measurement.
    load_averages: [String; 2],
    sizes: Vec<SizeFigures>,
    fast_growth: Vec<String>,
}

/// Parses a number of cells and returns the number of rows.
fn parse_rows(text: &str) -> Result<u32, String> {
    let (number, factor) = match text.strip_suffix('m') {
        Some(millions) => (millions, MILLION),
        None => (text, 1),
    };
    let number: u64 = number.parse().map_err(|_| "a number such as 10m is expected".to_owned())?;
    let cells = number.saturating_mul(factor);
    if !(MIN_CELLS..=MAX_CELLS).contains(&cells) {
        return Err(format!("must be from {MIN_CELLS} to {MAX_CELLS}"));
    }
    u32::try_from(cells / u64::from(COLUMNS)).map_err(|error| error.to_string())
}

/// Runs the command. The exit code is 0 on success, 1 if something grows faster than it may, 2 if
/// the measurement could not be made, and 64 for a usage error.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Errors of writing to the terminal cannot be reported anywhere.
            let _ = error.print();
            let is_help =
                matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return if is_help { ExitCode::SUCCESS } else { ExitCode::from(EXIT_USAGE) };
        }
    };
    match measure(&arguments).and_then(|report| print_report(&arguments, report)) {
        Ok(report) if report.fast_growth.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(EXIT_FAST_GROWTH),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(EXIT_NOT_RUN)
        }
    }
}

fn measure(arguments: &Arguments) -> Result<Report, ScaleError> {
    let programs = find_programs(arguments)?;
    let folder = arguments.folder.clone().unwrap_or_else(std::env::temp_dir);
    let load_before = read_load_average();
    let mut sizes = Vec::new();
    for rows in &arguments.cells {
        let cells = f64::from(*rows) * f64::from(COLUMNS);
        print_progress(&format!("{} cells", format_count(cells)));
        let mut report_step = |figures: &StepFigures| print_progress(&progress_line(figures));
        sizes.push(measure_size(&programs, &folder, *rows, &mut report_step)?);
    }
    let fast_growth = list_fast_growth(&sizes);
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let load_averages = [load_before, read_load_average()];
    Ok(Report { processors, load_averages, sizes, fast_growth })
}

fn find_programs(arguments: &Arguments) -> Result<Programs, ScaleError> {
    let this_program =
        std::env::current_exe().map_err(|source| ScaleError::file("scale".as_ref(), source))?;
    let find = |path: &Option<PathBuf>, name| {
        let path = path.clone().unwrap_or_else(|| this_program.with_file_name(name));
        // Commands run in another folder.
        path.canonicalize().map_err(|source| ScaleError::file(&path, source))
    };
    let synth = find(&arguments.synth, "synth")?;
    Ok(Programs { synth, cellar: find(&arguments.cellar, "cellar")? })
}

fn read_load_average() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

fn print_progress(line: &str) {
    // Errors of writing to the terminal cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "{line}");
}

fn print_report(arguments: &Arguments, report: Report) -> Result<Report, ScaleError> {
    if let Some(path) = &arguments.picture {
        fs::write(path, draw(&report.sizes)).map_err(|source| ScaleError::file(path, source))?;
    }
    let output = if arguments.json {
        serde_json::to_string(&report)
            .map_err(|error| ScaleError::file("the JSON".as_ref(), error.into()))?
    } else {
        let [load_before, load_after] = &report.load_averages;
        let mut lines = vec![
            format_table(&report.sizes),
            format!("{} processors; load {load_before}, then {load_after}", report.processors),
        ];
        lines.extend(report.fast_growth.clone());
        lines.join("\n")
    };
    writeln!(io::stdout(), "{output}")
        .map_err(|source| ScaleError::file("standard output".as_ref(), source))?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from([&["scale"], arguments].concat())
    }

    #[test]
    fn sizes_are_rows_within_the_limits() {
        assert_eq!(parsed(&[]).unwrap().cells, [1_000_000, 10_000_000, 100_000_000]);
        let limits = parsed(&["--cells", "10000,10000m"]).unwrap();
        assert_eq!(limits.cells, [1_000, 1_000_000_000]);
        for wrong in ["9999", "10000000001", "10001m", "", "m", "1k", "-1", "99999999999999999999m"]
        {
            assert!(parsed(&["--cells", wrong]).is_err(), "{wrong}");
        }
    }
}
