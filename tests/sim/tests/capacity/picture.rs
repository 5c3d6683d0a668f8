//! Plain SVG pictures: bars and lines. They bring their own background, and follow the colour scheme
//! of the reader.

use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
/// Space for the labels at the left and for the legend at the top.
const LEFT: f64 = 170.0;
const TOP: f64 = 66.0;
const RIGHT: f64 = 24.0;
const BOTTOM: f64 = 46.0;
const PLOT_HEIGHT: f64 = 260.0;
const BAR_HEIGHT: f64 = 9.0;
const BAR_GROUP_SPACE: f64 = 10.0;
const STYLE: &str = "\
svg{font:13px system-ui,sans-serif}\
.page{fill:#fff}text{fill:#24292f}.quiet{fill:#57606a}.grid{stroke:#d0d7de}.limit{stroke:#cf222e}\
.c0{fill:#0969da;stroke:#0969da}.c1{fill:#bc4c00;stroke:#bc4c00}.c2{fill:#8250df;stroke:#8250df}\
.c3{fill:#1a7f37;stroke:#1a7f37}.c4{fill:#9a6700;stroke:#9a6700}.c5{fill:#6e7781;stroke:#6e7781}.line{fill:none;stroke-width:2}\
@media(prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#e6edf3}.quiet{fill:#9198a1}\
.grid{stroke:#3d444d}.limit{stroke:#ff7b72}.c0{fill:#58a6ff;stroke:#58a6ff}\
.c1{fill:#f0883e;stroke:#f0883e}.c2{fill:#bc8cff;stroke:#bc8cff}.c3{fill:#3fb950;stroke:#3fb950}\
.c4{fill:#d29922;stroke:#d29922}.c5{fill:#8b949e;stroke:#8b949e}}\
.page~.line{fill:none}";

/// An axis with a label at some values.
pub(super) struct Axis {
    pub(super) title: &'static str,
    pub(super) marks: Vec<(f64, String)>,
    pub(super) is_logarithmic: bool,
}

pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
}

impl Axis {
    /// Returns the place of a value, from 0 at the first mark to 1 at the last.
    fn place(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.is_logarithmic { value.log10() } else { value };
        let (first, last) = (self.marks[0].0, self.marks[self.marks.len() - 1].0);
        let place = (scale(value) - scale(first)) / (scale(last) - scale(first));
        place.clamp(0.0, 1.0)
    }
}

/// Draws a line for each series.
pub(super) fn lines(title: &str, axes: [&Axis; 2], series: &[Series]) -> String {
    let [across, up] = axes;
    let legend_space = 18.0 * f64::from(u32::try_from(series.len()).unwrap());
    let (top, left) = (TOP + legend_space, 80.0);
    let height = top + PLOT_HEIGHT + BOTTOM;
    let x = |value: f64| left + across.place(value) * (WIDTH - left - RIGHT);
    let y = |value: f64| top + (1.0 - up.place(value)) * PLOT_HEIGHT;
    let mut svg = begin(title, height);
    for (value, label) in &up.marks {
        let y = y(*value);
        let end = WIDTH - RIGHT;
        line(&mut svg, "grid", (left, y), (end, y));
        text(&mut svg, "quiet", "end", (left - 8.0, y + 4.0), label);
    }
    for (value, label) in &across.marks {
        text(&mut svg, "quiet", "middle", (x(*value), top + PLOT_HEIGHT + 18.0), label);
    }
    text(&mut svg, "quiet", "start", (8.0, top - 12.0), up.title);
    text(&mut svg, "quiet", "end", (WIDTH - RIGHT, height - 8.0), across.title);
    for (number, one) in series.iter().enumerate() {
        let points = one.points.iter();
        let points: Vec<String> =
            points.map(|(across, up)| format!("{:.1},{:.1}", x(*across), y(*up))).collect();
        let points = points.join(" ");
        writeln!(svg, "<polyline class=\"line c{number}\" points=\"{points}\"/>").unwrap();
        legend(&mut svg, number, left, &one.name);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws groups of bars, each from 0 to 1, with a line at 1.
pub(super) fn bars(title: &str, groups: &[(String, Vec<f64>)], names: &[String]) -> String {
    let count = |length: usize| f64::from(u32::try_from(length).unwrap());
    let group_height = BAR_HEIGHT * count(names.len()) + BAR_GROUP_SPACE;
    let top = TOP - 18.0 + 18.0 * count(names.len());
    let height = top + group_height * count(groups.len()) + BOTTOM;
    let x = |share: f64| LEFT + share.min(1.0) * (WIDTH - LEFT - 64.0);
    let mut svg = begin(title, height);
    for (number, name) in names.iter().enumerate() {
        legend(&mut svg, number, LEFT, name);
    }
    let mut y = top;
    for (label, shares) in groups {
        let middle = y + (group_height - BAR_GROUP_SPACE) / 2.0 + 4.0;
        text(&mut svg, "", "end", (LEFT - 10.0, middle), label);
        for (number, share) in shares.iter().enumerate() {
            let width = (x(*share) - LEFT).max(1.0);
            writeln!(
                svg,
                "<rect class=\"c{number}\" x=\"{LEFT}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\"/>",
                BAR_HEIGHT - 2.0
            )
            .unwrap();
            y += BAR_HEIGHT;
        }
        y += BAR_GROUP_SPACE;
    }
    line(&mut svg, "limit", (x(1.0), top - 8.0), (x(1.0), y));
    for percent in [0, 50, 100] {
        let place = (x(f64::from(percent) / 100.0), y + 16.0);
        text(&mut svg, "quiet", "middle", place, &format!("{percent} %"));
    }
    svg.push_str("</svg>\n");
    svg
}

fn begin(title: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"{WIDTH}\" height=\"{height:.0}\"/>\n\
         <text x=\"8\" y=\"22\" font-weight=\"600\">{title}</text>\n"
    )
}

fn legend(svg: &mut String, number: usize, left: f64, name: &str) {
    let y = 38.0 + 18.0 * f64::from(u32::try_from(number).unwrap());
    writeln!(
        svg,
        "<rect class=\"c{number}\" x=\"{left}\" y=\"{y:.1}\" width=\"12\" height=\"8\"/>"
    )
    .unwrap();
    text(svg, "", "start", (left + 20.0, y + 9.0), name);
}

fn text(svg: &mut String, class: &str, anchor: &str, (x, y): (f64, f64), text: &str) {
    writeln!(
        svg,
        "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
    )
    .unwrap();
}

fn line(svg: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    writeln!(
        svg,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    )
    .unwrap();
}
