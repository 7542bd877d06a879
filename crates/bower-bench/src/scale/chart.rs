//! Draws growth curves as one SVG picture: time, memory and disk over the number of items.
//! Both axes are logarithmic. Colours differ for colour-blind people (Okabe and Ito 2008), and every line has its name at its
//! end.

use std::fmt::Write;

use serde_json::Value;

/// A line: its name, the path of its figure, and the factor from its unit to the panel's.
struct Line {
    name: &'static str,
    place: &'static str,
    scale: f64,
    dashed: bool,
}

const fn line(name: &'static str, place: &'static str) -> Line {
    Line { name, place, scale: 1.0, dashed: false }
}

const fn megabytes(name: &'static str, place: &'static str) -> Line {
    Line { name, place, scale: 1e-6, dashed: false }
}

const TIMES: &[Line] = &[
    line("new process, new text", "/processes/query, new text/p50_ms"),
    line("new process, --fast", "/processes/query --fast/p50_ms"),
    line("status", "/processes/status/p50_ms"),
    line("curate one", "/writes/curate_one/p50_ms"),
    line("warm query, p50", "/warm/hybrid/p50_ms"),
    Line { name: "warm query, p99", place: "/warm/hybrid/p99_ms", scale: 1.0, dashed: true },
    line("vector channel", "/warm/vector_alone/p50_ms"),
    line("text channel", "/warm/text_alone/p50_ms"),
];
const SIZES: &[Line] = &[
    megabytes("memory, warm", "/warm/memory/rss_bytes"),
    Line { name: "of it its own", place: "/warm/memory/anonymous_bytes", scale: 1e-6, dashed: true },
    megabytes("store", "/build/disk/store_bytes"),
    megabytes("words", "/build/disk/text_bytes"),
    megabytes("vector codes", "/build/disk/vectors_bytes"),
    megabytes("token codes", "/build/disk/tokens_bytes"),
];
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#b8860b", "#000000", "#56b4e9"];

/// Size of a panel's plot in pixels, and its margins.
const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const NAMES: f64 = 170.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 56.0;
/// Least distance between two names, in pixels.
const APART: f64 = 15.0;

/// Draws the picture of all sizes.
pub fn picture(sizes: &[Value]) -> String {
    let width = 2.0 * (LEFT + WIDTH + NAMES);
    let height = TOP + HEIGHT + BOTTOM;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    panel(&mut svg, LEFT, "Time, milliseconds", TIMES, sizes);
    panel(&mut svg, LEFT + WIDTH + NAMES + LEFT, "Memory and disk, MB", SIZES, sizes);
    svg.push_str("</svg>\n");
    svg
}

fn panel(svg: &mut String, left: f64, title: &str, lines: &[Line], sizes: &[Value]) {
    let points: Vec<Vec<(f64, f64)>> = lines
        .iter()
        .map(|line| {
            let point = |size: &Value| {
                let figure = size.pointer(line.place)?.as_f64()? * line.scale;
                (figure > 0.0).then_some((size["items"].as_f64()?, figure))
            };
            sizes.iter().filter_map(point).collect()
        })
        .collect();
    let all = || points.iter().flatten();
    let (first, last) = decades(all().map(|point| point.0));
    let (low, high) = decades(all().map(|point| point.1));
    let x = |value: f64| left + WIDTH * (value.log10() - first) / (last - first);
    let y = |value: f64| TOP + HEIGHT * (1.0 - (value.log10() - low) / (high - low));
    let mut put = |text: std::fmt::Arguments<'_>| {
        // Writing to a string does not fail.
        let _ = svg.write_fmt(text);
        svg.push('\n');
    };
    put(format_args!(
        "<text x=\"{left}\" y=\"{}\" font-size=\"15\" font-weight=\"bold\">{title}</text>",
        TOP - 24.0
    ));
    for exponent in (low as i32)..=(high as i32) {
        let (value, at) = (10f64.powi(exponent), y(10f64.powi(exponent)));
        put(format_args!(
            "<path d=\"M{left} {at:.1}h{WIDTH}\" stroke=\"#ccc\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            at + 4.0,
            grouped(value)
        ));
    }
    for exponent in (first as i32)..=(last as i32) {
        let (value, at) = (10f64.powi(exponent), x(10f64.powi(exponent)));
        put(format_args!(
            "<path d=\"M{at:.1} {TOP}v{HEIGHT}\" stroke=\"#ccc\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            TOP + HEIGHT + 18.0,
            grouped(value)
        ));
    }
    put(format_args!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">items</text>",
        left + WIDTH / 2.0,
        TOP + HEIGHT + 38.0
    ));
    let mut ends = Vec::new();
    for ((line, points), colour) in lines.iter().zip(&points).zip(COLOURS) {
        let Some(&(end_x, end_y)) = points.last() else { continue };
        let path: Vec<String> =
            points.iter().map(|(at, value)| format!("{:.1} {:.1}", x(*at), y(*value))).collect();
        let dashes = if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        put(format_args!(
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>",
            path.join("L")
        ));
        for (at, value) in points {
            put(format_args!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                x(*at),
                y(*value)
            ));
        }
        ends.push((y(end_y), x(end_x), line.name, colour));
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let places = spread(&ends.iter().map(|end| end.0).collect::<Vec<_>>());
    for ((from, end, name, colour), to) in ends.into_iter().zip(places) {
        let right = left + WIDTH + 14.0;
        put(format_args!(
            "<path d=\"M{:.1} {from:.1}L{:.1} {to:.1}\" stroke=\"{colour}\" stroke-width=\".6\" fill=\"none\"/>\
             <text x=\"{right:.1}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>",
            end + 4.0,
            right - 2.0,
            to + 4.0
        ));
    }
}

/// Returns the range of powers of ten around all values, as exponents; at least one decade.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, 0f64), |(low, high), value| (low.min(value), high.max(value)));
    if high <= 0.0 {
        return (0.0, 1.0);
    }
    let (low, high) = (low.log10().floor(), high.log10().ceil());
    (low, high.max(low + 1.0))
}

/// Moves ascending positions down, and back up from the bottom, until they are far enough apart.
fn spread(places: &[f64]) -> Vec<f64> {
    let mut spread = places.to_vec();
    for at in 1..spread.len() {
        spread[at] = spread[at].max(spread[at - 1] + APART);
    }
    let mut below = TOP + HEIGHT + APART;
    for place in spread.iter_mut().rev() {
        *place = place.min(below - APART);
        below = *place;
    }
    spread
}

/// Formats a power of ten with thousands separators: `1,000`, `0.1`.
fn grouped(value: f64) -> String {
    if value < 1.0 {
        return format!("{value}");
    }
    let digits = format!("{value:.0}");
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).expect("digits are ASCII"))
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_line_with_figures_is_drawn_and_named() {
        let size = |items: u64, ms: f64| json!({ "items": items, "warm": { "hybrid": { "p50_ms": ms } } });
        let svg = picture(&[size(10_000, 0.5), size(100_000, 1.0)]);
        assert!(svg.contains(">warm query, p50<") && svg.contains(">100,000<") && svg.contains(">0.1<"));
        assert!(!svg.contains(">status<"), "no figures, no line");
        // By hand: the time axis goes from .1 to 1 and the items from 10,000 to 100,000, so the last point is the top right.
        assert!(svg.contains(&format!("cx=\"{:.1}\" cy=\"{TOP:.1}\"", LEFT + WIDTH)), "{svg}");
    }

    #[test]
    fn names_do_not_meet() {
        let places = spread(&[100.0, 101.0, 102.0, 455.0, 456.0]);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= APART - 1e-9), "{places:?}");
        assert!(places.last().is_some_and(|last| *last <= TOP + HEIGHT + 1e-9));
    }
}
