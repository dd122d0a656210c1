//! CRC-32, as in gzip and ethernet: finds every burst of up to 32 wrong bits.

/// The tables of the usual way to take eight bytes at a time.
const TABLES: [[u32; 256]; 8] = tables();

#[expect(clippy::indexing_slicing, reason = "evaluated while compiling, which fails on an index that is out of range")]
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 256")]
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// The checksum of bytes that follow others with the checksum `before`; 0 where none do.
pub(super) fn crc32(before: u32, bytes: &[u8]) -> u32 {
    let [t0, t1, t2, t3, t4, t5, t6, t7] = &TABLES;
    let look = |table: &[u32; 256], byte: u8| table.get(usize::from(byte)).copied().unwrap_or_default();
    let mut crc = !before;
    let (eights, rest) = bytes.as_chunks::<8>();
    for [a, b, c, d, e, f, g, h] in eights {
        let [p, q, r, s] = (crc ^ u32::from_le_bytes([*a, *b, *c, *d])).to_le_bytes();
        crc = look(t7, p) ^ look(t6, q) ^ look(t5, r) ^ look(t4, s);
        crc ^= look(t3, *e) ^ look(t2, *f) ^ look(t1, *g) ^ look(t0, *h);
    }
    for byte in rest {
        crc = (crc >> 8) ^ look(t0, crc.to_le_bytes()[0] ^ byte);
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_crc_that_everybody_computes() {
        assert_eq!(crc32(0, b""), 0);
        assert_eq!(crc32(0, b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(0, b"The quick brown fox jumps over the lazy dog"), 0x414f_a339);
        assert_eq!(crc32(crc32(0, b"The quick brown "), b"fox jumps over the lazy dog"), 0x414f_a339);
    }
}
