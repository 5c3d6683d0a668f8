//! Invalid and oversized levels are rejected.

use super::*;

#[test]
fn unsorted_levels_are_rejected() {
    let refused = |sheets: Vec<LevelSheet>| pack_level(&Level { sheets }, ROOT).is_err();
    let fine = || stripe(span(0, 2), &[(0, 2)]);
    assert!(!refused(vec![sheet_of(0, vec![fine()]), sheet_of(1, vec![fine()])]));
    assert!(refused(vec![sheet_of(1, vec![]), sheet_of(0, vec![])]));
    assert!(refused(vec![sheet_of(1, vec![]), sheet_of(1, vec![])]));
    assert!(refused(vec![sheet_of(0, vec![fine(), stripe(span(1, 3), &[(0, 2)])])]));
    assert!(refused(vec![sheet_of(0, vec![stripe(span(0, 2), &[(0, 2), (1, 3)])])]));
    let no_bytes = StripeTile {
        rows: span(0, 1),
        cells: 1,
        stored: StoredTile::Inline(Vec::new()),
        formulas: None,
    };
    let no_bytes = Stripe { columns: span(0, 1), tiles: vec![no_bytes] };
    assert!(refused(vec![sheet_of(0, vec![no_bytes])]));
    let (mut stray, run) = (sheet_of(0, vec![]), Run { src: 0, dst: 5, len: 1 });
    stray.moves.rows = AxisMap::delete(Axis::Rows, &Spans::one(0, 1)).with_run(run);
    assert!(refused(vec![stray]));
}

/// Returns areas in as many sheets.
fn reads_of_sheets(count: usize) -> ReadAreas {
    let areas: Vec<u32> = (0..count as u32).flat_map(|sheet| [sheet, 0, 1, 0, 1]).collect();
    ReadAreas::from_numbers(FormulaTraits::NONE, &areas, count).unwrap()
}

fn reaching(rows: u32, columns: u32) -> Result<(), SnapshotError> {
    let stripes = vec![stripe(span(columns - 1, columns), &[(rows - 1, rows)])];
    pack_level(&Level { sheets: vec![sheet_of(0, stripes)] }, ROOT).map(|_| ())
}

fn sheets(count: u32) -> Level {
    Level { sheets: (0..count).map(|at| sheet_of(at, vec![])).collect() }
}

#[test]
fn a_tile_and_a_sheet_have_limited_areas() {
    let with_formulas = |count: u32, areas: usize| {
        let stored = StoredTile::Chunk(chunk_of(0));
        let formulas = Some(TileFormulas { count, reads: reads_of_sheets(areas) });
        let mut tiles = SpanMap::default();
        assert!(tiles.push(span(0, 1), IndexedTile { cells: 1, stored, formulas }));
        IndexChunk::decode(&cbor::encode(Kind::Tiles, &tiles))
    };
    assert!(with_formulas(1, 0).is_ok() && with_formulas(0, 0).is_err());
    assert!(with_formulas(1, MAX_TILE_READ_AREAS).is_ok());
    assert!(with_formulas(1, MAX_TILE_READ_AREAS + 1).is_err());
    let with_reads = |formulas: Option<u64>, areas: usize| {
        let (mut packed, _) = pack_level(&sheets(1), ROOT).unwrap();
        packed.sheets[0].formulas = formulas;
        packed.sheets[0].reads = Some(reads_of_sheets(areas));
        let bytes = minicbor::to_vec(&packed).unwrap();
        minicbor::decode::<PackedLevel>(&bytes).is_ok_and(|level| level.check().is_ok())
    };
    assert!(with_reads(Some(1), 0) && !with_reads(Some(0), 0) && !with_reads(None, 0));
    assert!(with_reads(Some(1), MAX_SHEET_READ_AREAS));
    assert!(!with_reads(Some(1), MAX_SHEET_READ_AREAS + 1));
}

#[test]
fn limits_are_met_at_n_and_not_at_one_more() {
    assert!(reaching(MAX_ROWS, MAX_COLUMNS).is_ok());
    assert!(reaching(MAX_ROWS + 1, MAX_COLUMNS).is_err());
    assert!(reaching(MAX_ROWS, MAX_COLUMNS + 1).is_err());

    assert!(pack_level(&sheets(MAX_SHEETS as u32), ROOT).is_ok());
    assert!(pack_level(&sheets(MAX_SHEETS as u32 + 1), ROOT).is_err());
    for (count, fits) in [(MAX_SHEETS as u32, true), (MAX_SHEETS as u32 + 1, false)] {
        let (mut packed, _) = pack_level(&sheets(MAX_SHEETS as u32), ROOT).unwrap();
        let last = PackedSheet { sheet: SheetId(count), ..packed.sheets[0].clone() };
        packed.sheets.resize(count as usize, last);
        let bytes = minicbor::to_vec(&packed).unwrap();
        assert_eq!(minicbor::decode::<PackedLevel>(&bytes).is_ok(), fits);
    }

    let odd = |count: usize| Spans::of((0..count as u32).map(|at| at * 2 + 1));
    let with = |change: &dyn Fn(&mut LevelSheet)| {
        let mut sheet = sheet_of(0, vec![]);
        change(&mut sheet);
        pack_level(&Level { sheets: vec![sheet] }, PackLimits::LEVEL)
    };
    // As many runs as deleted spans, plus one.
    let map = |runs: usize| AxisMap::delete(Axis::Rows, &odd(runs - 1));
    assert!(with(&|sheet| sheet.moves.rows = map(MAX_AXIS_RUNS)).is_ok());
    assert!(with(&|sheet| sheet.moves.rows = map(MAX_AXIS_RUNS + 1)).is_err());
    let ends = |first: u32| DeletedLines { span: span(first, first + 1), start: 0, end: 0 };
    let with_ends = |count: usize, step: u32| {
        with(&|sheet| {
            // The second axis map has fewer runs than ends.
            sheet.moves.rows = AxisMap::delete(Axis::Rows, &Spans::one(0, 1_000_000));
            sheet.moves.row_ends = (0..count as u32).map(|at| ends(at * step)).collect();
        })
    };
    assert!(with_ends(MAX_LINE_ENDS, 2).is_ok());
    assert!(with_ends(MAX_LINE_ENDS + 1, 2).is_err());
    assert!(with_ends(2, 0).is_err(), "unsorted");
    assert!(with_ends(2, 1_000_000).is_err(), "a row that was not deleted");
    let beyond = DeletedLines { end: MAX_ROWS + 1, ..ends(0) };
    assert!(with(&|sheet| sheet.moves.row_ends = vec![beyond]).is_err());
    let region = |spans: usize| Region { rows: odd(spans - 1), columns: Spans::one(0, 1) };
    let half = MAX_LEVEL_CLEAR_SPANS / 2;
    for (spans, fits) in [(half, true), (half + 1, false)] {
        let packed = with(&|sheet| {
            sheet.moves.value_clears = vec![region(half)];
            sheet.moves.format_clears = vec![region(spans)];
        });
        assert_eq!(packed.is_ok(), fits);
    }
    assert!(with(&|sheet| sheet.moves.value_clears = vec![nowhere()]).is_err());

    let stored = |stored: StoredTile| {
        let tile = StripeTile { rows: span(0, 1), cells: 1, stored, formulas: None };
        let stripes = vec![Stripe { columns: span(0, 1), tiles: vec![tile] }];
        pack_level(
            &Level { sheets: vec![sheet_of(0, stripes)] },
            PackLimits { inline_bytes: usize::MAX, inline_total_bytes: usize::MAX, ..ROOT },
        )
        .is_ok()
    };
    let chunk = |bytes: usize| StoredTile::Chunk(ChunkRef { bytes: bytes as u32, ..chunk_of(0) });
    assert!(stored(chunk(MAX_STORED_CHUNK_BYTES)) && !stored(chunk(MAX_STORED_CHUNK_BYTES + 1)));
    assert!(!stored(chunk(0)));
    let inline = |bytes: usize| StoredTile::Inline(vec![7; bytes]);
    assert!(stored(inline(MAX_CHUNK_BYTES)) && !stored(inline(MAX_CHUNK_BYTES + 1)));
}

/// The longest possible moves: random positions far apart, which do not compress.
#[test]
fn the_largest_moves_fit_into_a_chunk() {
    let mut noise = blake3::Hasher::new().finalize_xof();
    let mut next = |below: u32| {
        let mut bytes = [0; 4];
        noise.fill(&mut bytes);
        1 + u32::from_le_bytes(bytes) % below
    };
    let mut map = |axis: Axis| {
        let step = axis.limit() / MAX_AXIS_RUNS as u32 / 2;
        let (mut map, mut src, mut dst) = (AxisMap::empty(axis), 0, 0);
        for _ in 0..MAX_AXIS_RUNS {
            let run = Run { src: src + next(step), dst: dst + next(step), len: next(step) };
            map.push(run);
            (src, dst) = (run.src + run.len, run.dst + run.len);
        }
        map
    };
    let mut sheet = sheet_of(0, vec![]);
    (sheet.moves.rows, sheet.moves.columns) = (map(Axis::Rows), map(Axis::Columns));
    let region = |_| Region {
        rows: Spans::one(next(MAX_ROWS / 2), next(MAX_ROWS / 2)),
        columns: Spans::one(next(MAX_COLUMNS / 2), next(MAX_COLUMNS / 2)),
    };
    sheet.moves.value_clears = (0..MAX_LEVEL_CLEAR_SPANS / 2).map(region).collect();
    let (packed, objects) = pack_level(&Level { sheets: vec![sheet] }, PackLimits::LEVEL).unwrap();
    assert!(matches!(packed.sheets[0].moves, InlineOrChunk::Chunk(_)));
    assert!(objects[0].stored.len() <= MAX_STORED_CHUNK_BYTES);
}
