//! Draws the figures as an SVG: a panel with logarithmic axes for each quantity, and a line for each
//! step. The picture has no scripts, and follows the color scheme of the reader.

mod axis;
mod labels;

use std::fmt::Write as _;

use axis::LogAxis;
use labels::spread;

use crate::figures::{Quantity, SizeFigures, Step};
use crate::report::{format_bytes, format_count};

const PANEL_COLUMNS: usize = 2;
const PANEL_WIDTH: f64 = 500.0;
const PANEL_HEIGHT: f64 = 270.0;
/// Space for the title above all panels.
const TITLE_HEIGHT: f64 = 54.0;
/// Distances of the plot from the edges of its panel.
const PLOT_LEFT: f64 = 70.0;
const PLOT_RIGHT: f64 = 170.0;
const PLOT_TOP: f64 = 34.0;
const PLOT_BOTTOM: f64 = 34.0;
/// Distance of a label of a line from the plot.
const LABEL_DISTANCE: f64 = 18.0;
/// Minimum distance of two labels of lines.
const LABEL_STEP: f64 = 13.0;
/// Distance of the baseline of a text from its middle.
const BASELINE: f64 = 4.0;
const HUE_STEP: usize = 30;

/// Returns the SVG.
#[must_use]
pub fn draw(sizes: &[SizeFigures]) -> String {
    let panel_rows = Quantity::ALL.len().div_ceil(PANEL_COLUMNS);
    let width = PANEL_WIDTH * PANEL_COLUMNS as f64;
    let height = TITLE_HEIGHT + PANEL_HEIGHT * panel_rows as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>How each quantity grows with the number of cells</title>\n"
    );
    push_style(&mut svg);
    let _ = write!(
        svg,
        "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"16\" y=\"24\">How each quantity grows with the number of cells</text>\n\
         <text x=\"16\" y=\"42\">Both axes are logarithmic. Dashed lines: in proportion to the cells.</text>\n"
    );
    for (index, quantity) in Quantity::ALL.into_iter().enumerate() {
        let left = PANEL_WIDTH * (index % PANEL_COLUMNS) as f64;
        let top = TITLE_HEIGHT + PANEL_HEIGHT * (index / PANEL_COLUMNS) as f64;
        let _ = writeln!(svg, "<g transform=\"translate({left} {top})\">");
        push_panel(&mut svg, sizes, quantity);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn push_style(svg: &mut String) {
    svg.push_str(
        "<style>\n\
         .page { fill: #fff }\n\
         text { font: 11px sans-serif; fill: #222 }\n\
         .title { font-size: 15px; font-weight: bold }\n\
         .grid { stroke: #ddd }\n\
         .linear { stroke: #888; stroke-dasharray: 5 4 }\n\
         polyline { fill: none; stroke-width: 2 }\n",
    );
    push_colors(svg, 70, 40);
    svg.push_str(
        "@media (prefers-color-scheme: dark) {\n\
         .page { fill: #161616 }\n\
         text { fill: #e8e8e8 }\n\
         .grid { stroke: #3a3a3a }\n",
    );
    push_colors(svg, 75, 65);
    svg.push_str("}\n</style>\n");
}

fn push_colors(svg: &mut String, saturation: u32, lightness: u32) {
    for index in 0..Step::ALL.len() {
        let hue = index * HUE_STEP;
        let color = format!("hsl({hue}, {saturation}%, {lightness}%)");
        let _ = writeln!(svg, ".s{index} {{ stroke: {color} }} .d{index} {{ fill: {color} }}");
    }
}

/// A line of a panel, in pixels.
struct Line {
    step_index: usize,
    label: &'static str,
    points: Vec<(f64, f64)>,
}

fn push_panel(svg: &mut String, sizes: &[SizeFigures], quantity: Quantity) {
    let _ = writeln!(
        svg,
        "<text class=\"title\" x=\"{PLOT_LEFT}\" y=\"{}\">{}</text>",
        PLOT_TOP - 14.0,
        quantity.label()
    );
    let cells = sizes.iter().map(|size| size.cells as f64);
    let values = sizes.iter().flat_map(|size| &size.steps).map(|step| quantity.value(step));
    let across = LogAxis::tight(cells, PLOT_LEFT, PANEL_WIDTH - PLOT_RIGHT);
    let up = LogAxis::of_decades(values, PANEL_HEIGHT - PLOT_BOTTOM, PLOT_TOP);
    let (Some(across), Some(up)) = (across, up) else { return };
    push_grid(svg, sizes, quantity, &across, &up);
    let lines = list_lines(sizes, quantity, &across, &up);
    for line in &lines {
        push_line(svg, line);
    }
    push_labels(svg, &lines);
}

fn push_grid(
    svg: &mut String,
    sizes: &[SizeFigures],
    quantity: Quantity,
    across: &LogAxis,
    up: &LogAxis,
) {
    let (left, right) = (PLOT_LEFT, PANEL_WIDTH - PLOT_RIGHT);
    let (bottom, top) = (PANEL_HEIGHT - PLOT_BOTTOM, PLOT_TOP);
    for decade in up.decades() {
        let y = up.place(decade);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{left}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            y + BASELINE,
            format_value(quantity, decade)
        );
    }
    for size in sizes {
        let x = across.place(size.cells as f64);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{bottom}\" x2=\"{x:.1}\" y2=\"{top}\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            format_count(size.cells as f64)
        );
    }
    let ((x1, y1), (x2, y2)) = axis::diagonal(across, up);
    let _ = writeln!(
        svg,
        "<line class=\"linear\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

fn format_value(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Wall | Quantity::ClientCpu | Quantity::StackCpu => format!("{value} s"),
        Quantity::ClientMemory | Quantity::StackMemory | Quantity::MovedBytes => {
            format_bytes(value)
        }
        Quantity::AddedObjects => format_count(value),
        Quantity::Dollars => format!("${value}"),
    }
}

/// Values of zero have no place on a logarithmic axis.
fn list_lines(
    sizes: &[SizeFigures],
    quantity: Quantity,
    across: &LogAxis,
    up: &LogAxis,
) -> Vec<Line> {
    let mut lines = Vec::new();
    for (step_index, step) in Step::ALL.into_iter().enumerate() {
        let mut points = Vec::new();
        for size in sizes {
            if let Some(value) = size.value(step, quantity).filter(|value| *value > 0.0) {
                points.push((across.place(size.cells as f64), up.place(value)));
            }
        }
        if !points.is_empty() {
            lines.push(Line { step_index, label: step.label(), points });
        }
    }
    lines
}

fn push_line(svg: &mut String, Line { step_index, points, .. }: &Line) {
    let mut place_list = String::new();
    for (x, y) in points {
        let _ = write!(place_list, "{x:.1},{y:.1} ");
        let _ =
            writeln!(svg, "<circle class=\"d{step_index}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>");
    }
    let _ =
        writeln!(svg, "<polyline class=\"s{step_index}\" points=\"{}\"/>", place_list.trim_end());
}

/// Writes the name of each line beside its end.
fn push_labels(svg: &mut String, lines: &[Line]) {
    let x = PANEL_WIDTH - PLOT_RIGHT + LABEL_DISTANCE;
    let ends: Vec<f64> =
        lines.iter().filter_map(|line| line.points.last()).map(|end| end.1).collect();
    let places = spread(&ends, LABEL_STEP, PLOT_TOP - LABEL_STEP, PANEL_HEIGHT - PLOT_BOTTOM);
    for (line, y) in lines.iter().zip(places) {
        let Some((end_x, end_y)) = line.points.last() else { continue };
        let Line { step_index, label, .. } = line;
        let _ = writeln!(
            svg,
            "<line class=\"s{step_index}\" x1=\"{end_x:.1}\" y1=\"{end_y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
            x - 2.0,
            y + BASELINE
        );
    }
}

#[cfg(test)]
mod tests {
    use cellar_api::cost::Cost;

    use super::*;
    use crate::figures::StepFigures;

    fn size(cells: u64, import_s: f64) -> SizeFigures {
        let figures = |step, wall_s| StepFigures {
            wall_s,
            ..StepFigures::of_cost(step, &Cost { write_units: 1, ..Cost::default() })
        };
        let steps = vec![figures(Step::Import, import_s), figures(Step::Edit, 0.02)];
        SizeFigures { cells, csv_bytes: 0, stored_objects: 0, stored_bytes: 0, steps }
    }

    #[test]
    fn each_quantity_has_a_panel_and_each_step_a_labeled_line() {
        let sizes = [size(10_000_000, 2.0), size(100_000_000, 20.0), size(1_000_000_000, 200.0)];
        let svg = draw(&sizes);
        for quantity in Quantity::ALL {
            assert!(svg.contains(&format!(">{}</text>", quantity.label())), "{quantity:?}");
        }
        // Zeros have no line: time and dollars remain.
        assert_eq!(svg.matches("<polyline").count(), 4);
        assert_eq!(svg.matches(">import</text>").count(), 2);
        assert_eq!(svg.matches(">1 billion</text>").count(), 2);
        assert_eq!(svg.matches(">100 s</text>").count(), 1);
        assert!(!svg.contains("script") && !svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        assert_eq!(draw(&sizes), svg);
    }

    #[test]
    fn one_size_or_none_can_be_drawn() {
        for sizes in [&[][..], &[size(10_000_000, 2.0)]] {
            let svg = draw(sizes);
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
