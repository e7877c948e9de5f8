use super::*;

fn read((prefix, rest): (&[u8], &[u8]), at: usize, len: usize) -> Result<u64, Damaged> {
    SplitBytes::new(prefix, at, len).read(rest)
}

#[test]
fn a_number_is_read_wherever_the_prefix_of_its_leaf_ends() {
    let bytes: Vec<u8> = (1..=20).map(|i| i * 11).collect();
    for split in 0..=bytes.len() {
        let source = bytes.split_at(split);
        for len in 1..=8 {
            for at in 0..=bytes.len() - len {
                let number =
                    bytes[at..at + len].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
                assert_eq!(read(source, at, len), Ok(number), "{split}, {len} from {at} on");
            }
            let beyond = bytes.len() - len + 1;
            assert_eq!(read(source, beyond, len), Err(Damaged));
        }
    }
}
