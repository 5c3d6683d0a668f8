use proptest::prelude::*;

use super::*;
use crate::chunk::integers;
use cellar_base::limits::{MAX_EXPANDED_TEXT_BYTES, MAX_TILE_TEXT_BYTES, MAX_WORDS};

fn round(texts: &[&str]) -> (TextEncoding, usize) {
    let (mut bytes, mut expansion_budget) = (Vec::new(), MAX_EXPANDED_TEXT_BYTES);
    write_texts(&mut bytes, texts, &mut expansion_budget);
    let mut reader = ChunkReader::new(&bytes);
    // The buffer is not empty.
    let mut texts_read = "été".to_owned();
    let spans = read_texts(&mut reader, texts.len(), MAX_TILE_TEXT_BYTES, &mut texts_read).unwrap();
    assert_eq!(spans.iter().map(|span| span.of(&texts_read)).collect::<Vec<_>>(), texts);
    assert_eq!(reader.unread_byte_count(), 0);
    let taken = MAX_EXPANDED_TEXT_BYTES - expansion_budget;
    assert!(
        reader.charge_expanded_text(MAX_EXPANDED_TEXT_BYTES - taken).is_ok(),
        "both count the same"
    );
    assert!(reader.charge_expanded_text(1).is_err(), "both count the same");
    (TextEncoding::from_number(bytes[0]).unwrap(), bytes.len())
}

proptest! {
    #[test]
    fn texts_read_back(
        texts in proptest::collection::vec("[ab ]{0,6}|\\PC{0,8}|[a-c]{2} [a-c]{2} é+", 1..80),
        repeat in 1..12_usize,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        round(&texts);
        round(&texts.repeat(repeat));
        let mut sorted = texts.repeat(repeat);
        sorted.sort_unstable();
        round(&sorted);
    }

    #[test]
    fn any_bytes_decode_to_texts_or_an_error(
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
        count in 1..3_000_usize,
    ) {
        let mut texts = String::new();
        if let Ok(spans) = read_texts(&mut ChunkReader::new(&bytes), count, 100, &mut texts) {
            prop_assert_eq!(spans.len(), count);
            prop_assert!(spans.iter().all(|span| span.len <= 100));
        }
    }
}

#[test]
fn the_smallest_form_is_chosen() {
    let hash = |number: u64, letters: usize| -> String {
        blake3::hash(&number.to_le_bytes()).to_hex().chars().take(letters).collect()
    };
    let codes: Vec<String> = (0..3_000).map(|row| hash(row, 12)).collect();
    let paths: Vec<String> = (0..3_000).map(|row| format!("/var/log/service/{row:06}")).collect();
    let word = |row: u64| hash(u64::from(blake3::hash(&row.to_le_bytes()).as_bytes()[0]) % 97, 6);
    let notes: Vec<String> = (0..3_000)
        .map(|row| [word(row), word(row + 5_000), word(row + 10_000)].join(" "))
        .collect();
    let names: Vec<String> = (0..3_000).map(|row| hash(row * row % 61, 20)).collect();
    for (texts, form) in [
        (codes, TextEncoding::Plain),
        (paths, TextEncoding::FrontCoding),
        (notes, TextEncoding::Words),
        (names, TextEncoding::Dictionary),
    ] {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(round(&texts).0, form);
    }
    assert_eq!(round(&["abc"]).1, 5);
}

/// Returns strings that share long substrings.
fn shared(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{}{number:010}", "x".repeat(4_086))).collect()
}

#[test]
fn expanded_texts_are_bounded() {
    let most = MAX_EXPANDED_TEXT_BYTES / MAX_TILE_TEXT_BYTES;
    for (count, form) in [(most, TextEncoding::FrontCoding), (most + 1, TextEncoding::Plain)] {
        let texts = shared(count);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(round(&texts).0, form, "{count}");
    }
    // Decoding rejects a trailing byte.
    let texts = shared(most + 1);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let written = front_coding::encode_front_coding(&texts).unwrap().bytes;
    let read = read_texts(
        &mut ChunkReader::new(&written),
        most + 1,
        MAX_TILE_TEXT_BYTES,
        &mut String::new(),
    );
    assert!(matches!(read, Err(UnreadableChunk::TooLarge(_))));
}

#[test]
fn a_text_that_is_too_long_is_rejected_in_every_form() {
    let long = "a b ".repeat(5);
    let texts = [long.as_str(); 4];
    let expansion_budget = MAX_EXPANDED_TEXT_BYTES;
    let all = [
        plain::encode_plain(&texts),
        dictionary::encode_dictionary(&texts, expansion_budget).unwrap().encoded,
        front_coding::encode_front_coding(&texts).unwrap(),
        words::encode_words(&texts, expansion_budget).unwrap(),
    ];
    for written in all {
        let read = |most| {
            read_texts(&mut ChunkReader::new(&written.bytes), 4, most, &mut String::new()).is_ok()
        };
        assert!(read(20) && !read(19), "{}", written.bytes[0]);
    }
}

#[test]
fn words_end_at_their_limit() {
    let words = |words: usize| {
        let mut bytes = vec![3, 1, 0, 0];
        integers::write_lengths(&mut bytes, [words].into_iter());
        integers::write_lengths(&mut bytes, std::iter::repeat_n(0, words));
        read_texts(&mut ChunkReader::new(&bytes), 1, MAX_EXPANDED_TEXT_BYTES, &mut String::new())
    };
    // Empty words, separated by spaces.
    assert_eq!(words(MAX_WORDS).unwrap()[0].len, u32::try_from(MAX_WORDS).unwrap() - 1);
    assert!(words(MAX_WORDS + 1).is_err() && words(0).is_err());
    let none = [3, 0, 0, 2, 0];
    assert!(
        read_texts(&mut ChunkReader::new(&none), 1, 9, &mut String::new()).is_err(),
        "no word to choose"
    );
}

#[test]
fn words_around_the_length_of_a_block_are_joined() {
    let words: Vec<String> = (14..19).map(|length| "é".repeat(length / 2) + "x").collect();
    let pairs = words.iter().flat_map(|first| words.iter().map(move |second| (first, second)));
    let texts: Vec<String> = pairs.map(|(first, second)| format!("{first} {second} ")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let encoded = words::encode_words(&texts, MAX_EXPANDED_TEXT_BYTES).unwrap();
    for mut read_texts in [String::new(), "é".to_owned()] {
        let mut reader = ChunkReader::new(&encoded.bytes[1..]);
        let spans =
            words::read_words(&mut reader, texts.len(), MAX_TILE_TEXT_BYTES, &mut read_texts);
        let read: Vec<_> =
            spans.unwrap().iter().map(|span| span.of(&read_texts).to_owned()).collect();
        assert_eq!(read, texts);
    }
}

#[test]
fn a_text_without_words_is_refused() {
    for (word_counts, is_valid) in [([1, 1, 1], true), ([2, 0, 1], false), ([0, 1, 2], false)] {
        let mut bytes = vec![3, 1, 0, 0];
        integers::write_lengths(&mut bytes, word_counts.into_iter());
        integers::write_lengths(&mut bytes, [0; 3].into_iter());
        let read = read_texts(&mut ChunkReader::new(&bytes), 3, 9, &mut String::new());
        assert_eq!(read.is_ok(), is_valid, "{word_counts:?}");
    }
}

#[test]
fn a_text_must_start_at_a_character_boundary() {
    let e_acute = "é".as_bytes();
    for (lengths, good) in [([2, 0], true), ([0, 2], true), ([1, 1], false)] {
        let mut bytes = vec![0];
        integers::write_lengths(&mut bytes, lengths.into_iter());
        bytes.extend_from_slice(e_acute);
        let read = read_texts(&mut ChunkReader::new(&bytes), 2, 9, &mut String::new());
        assert_eq!(read.is_ok(), good, "{lengths:?}");
    }
}

#[test]
fn the_nesting_of_forms_is_bounded() {
    for (outer, inner) in [(1, 1), (3, 1), (3, 3)] {
        let bytes = [outer, 1, inner, 1, 0, 0, 0, 0];
        assert!(read_texts(&mut ChunkReader::new(&bytes), 1, 9, &mut String::new()).is_err());
    }
}
