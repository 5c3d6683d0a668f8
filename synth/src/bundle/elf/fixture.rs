//! Small ELF binaries for tests. Their sections are laid out as by a linker.

use cellar_stacks::Architecture;

#[derive(Debug, Clone)]
pub(in crate::bundle) struct Fixture {
    pub(in crate::bundle) machine: u16,
    /// ELF type: 2 for a program with fixed addresses, 3 for a position-independent program.
    pub(in crate::bundle) kind: u16,
    pub(in crate::bundle) loader: Option<&'static str>,
    pub(in crate::bundle) libraries: Vec<(&'static str, Vec<Need>)>,
    /// Padding that makes the binary large and compressible.
    pub(in crate::bundle) payload: Vec<u8>,
}

/// Required library version: the name, the flags, and a symbol that has this version.
pub(in crate::bundle) type Need = (&'static str, u16, &'static str);

const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;
const TEXT: &[u8] = b"payload";

impl Fixture {
    pub(in crate::bundle) fn sound(architecture: Architecture) -> Self {
        let (machine, loader) = match architecture {
            Architecture::X86_64 => (62, "/lib64/ld-linux-x86-64.so.2"),
            Architecture::Arm64 => (183, "/lib/ld-linux-aarch64.so.1"),
        };
        let libc = vec![("GLIBC_2.2.5", 0, "free"), ("GLIBC_2.34", 0, "__libc_start_main")];
        let libgcc = vec![("GCC_3.3", 0, "_Unwind_GetIP")];
        let libraries = vec![("libgcc_s.so.1", libgcc), ("libc.so.6", libc)];
        Self { machine, kind: 3, loader: Some(loader), libraries, payload: TEXT.to_vec() }
    }

    pub(in crate::bundle) fn with(mut self, library: &'static str, need: Need) -> Self {
        self.libraries.push((library, vec![need]));
        self
    }

    pub(in crate::bundle) fn bytes(&self) -> Vec<u8> {
        let parts = self.parts();
        let segments = if self.loader.is_some() { 2 } else { 1 };
        let mut out = vec![0; HEADER_BYTES + segments * SEGMENT_BYTES];
        let places = parts.each_ref().map(|part| {
            out.resize(out.len().next_multiple_of(8), 0);
            let start = out.len();
            out.extend(part);
            (start, part.len())
        });
        let [loader, strings, symbols, numbers, needs, dynamic] = places;
        let mut at = HEADER_BYTES;
        if self.loader.is_some() {
            put_segment(&mut out, &mut at, 3, loader);
        }
        put_segment(&mut out, &mut at, 2, dynamic);
        out.extend(&self.payload);
        out.resize(out.len().next_multiple_of(8), 0);
        let sections = out.len();
        put_section(&mut out, 0, (0, 0), 0, 0);
        put_section(&mut out, 3, strings, 0, 0);
        put_section(&mut out, 11, symbols, 1, 24);
        put_section(&mut out, 0x6fff_ffff, numbers, 2, 2);
        put_section(&mut out, 0x6fff_fffe, needs, 1, 0);
        put_section(&mut out, 6, dynamic, 1, 16);
        self.put_header(&mut out, segments, sections);
        out
    }

    /// Returns the contents of the six sections: loader path, strings, symbols, version indexes,
    /// required versions, and dynamic entries.
    fn parts(&self) -> [Vec<u8>; 6] {
        let loader = self.loader.map_or(vec![], |path| [path.as_bytes(), b"\0"].concat());
        let mut strings = vec![0];
        let mut name = |text: &str| {
            let at = u32::try_from(strings.len()).unwrap();
            strings.extend([text.as_bytes(), b"\0"].concat());
            at
        };
        let (mut symbols, mut numbers) = (vec![0; 24], vec![0, 0]);
        let (mut needs, mut dynamic) = (vec![], vec![]);
        let mut number = 1_u16;
        for (at, (library, versions)) in self.libraries.iter().enumerate() {
            let file = name(library);
            put(&mut dynamic, &[1, u64::from(file)]);
            let size = 16 + 16 * u32::try_from(versions.len()).unwrap();
            let next = if at + 1 == self.libraries.len() { 0 } else { size };
            needs.extend(1_u16.to_le_bytes());
            needs.extend(u16::try_from(versions.len()).unwrap().to_le_bytes());
            [file, 16, next].iter().for_each(|word| needs.extend(word.to_le_bytes()));
            for (version_at, (version, flags, symbol)) in versions.iter().enumerate() {
                number += 1;
                let next = if version_at + 1 == versions.len() { 0 } else { 16_u32 };
                needs.extend(0_u32.to_le_bytes());
                needs.extend([flags.to_le_bytes(), number.to_le_bytes()].concat());
                [name(version), next].iter().for_each(|word| needs.extend(word.to_le_bytes()));
                symbols.extend(name(symbol).to_le_bytes());
                symbols.extend([0x12, 0, 0, 0].iter().chain(&[0; 16]));
                numbers.extend(number.to_le_bytes());
            }
        }
        if !needs.is_empty() {
            put(&mut dynamic, &[0x6fff_fffe, 1]);
        }
        put(&mut dynamic, &[0, 0]);
        [loader, strings, symbols, numbers, needs, dynamic]
    }

    fn put_header(&self, out: &mut [u8], segments: usize, sections: usize) {
        let mut header = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        header.extend([self.kind.to_le_bytes(), self.machine.to_le_bytes()].concat());
        header.extend(1_u32.to_le_bytes());
        put(&mut header, &[0x1000, 64, u64::try_from(sections).unwrap()]);
        header.extend(0_u32.to_le_bytes());
        let segments = u16::try_from(segments).unwrap();
        for half in [64, 56, segments, 64, 6, 0] {
            header.extend(half.to_le_bytes());
        }
        out[..HEADER_BYTES].copy_from_slice(&header);
    }
}

fn put(out: &mut Vec<u8>, words: &[u64]) {
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
}

fn put_segment(out: &mut [u8], at: &mut usize, kind: u32, (start, length): (usize, usize)) {
    let mut segment = [kind.to_le_bytes(), 4_u32.to_le_bytes()].concat();
    let (start, length) = (u64::try_from(start).unwrap(), u64::try_from(length).unwrap());
    put(&mut segment, &[start, start, start, length, length, 1]);
    out[*at..*at + SEGMENT_BYTES].copy_from_slice(&segment);
    *at += SEGMENT_BYTES;
}

fn put_section(out: &mut Vec<u8>, kind: u32, place: (usize, usize), link: u32, entry_bytes: u64) {
    let (start, length) = (u64::try_from(place.0).unwrap(), u64::try_from(place.1).unwrap());
    out.extend([0_u32.to_le_bytes(), kind.to_le_bytes()].concat());
    put(out, &[0, start, start, length]);
    out.extend([link.to_le_bytes(), 1_u32.to_le_bytes()].concat());
    put(out, &[1, entry_bytes]);
}
