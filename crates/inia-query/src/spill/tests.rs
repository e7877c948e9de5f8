//! What goes to a scratch file comes back, and the tools give the same answers with little memory
//! as with much.

use super::chunk::{ChunkMerge, RecordChunk};
use super::{
    Distinct, KeySet, Partitions, Purpose, Runs, Stream, TupleList, TuplePosition, Workspace,
};
use inia_base::error::ErrorCode;
use inia_base::value::Value;
use inia_testkit::{Random, SimDisk};
use std::collections::{BTreeSet, HashSet};

/// The least that can be set: 1 KB.
fn tiny(disk: &SimDisk) -> Workspace<'_> {
    Workspace::new(disk, 1024)
}

fn key(random: &mut Random, different: u64) -> Vec<u8> {
    let number = random.skewed(different);
    let mut key = number.to_be_bytes().to_vec();
    key.extend(std::iter::repeat_n(b'x', (number % 50) as usize));
    key
}

#[test]
fn a_stream_gives_its_records_back_as_often_as_they_are_read() {
    let disk = SimDisk::new();
    let mut stream = Stream::new(tiny(&disk), Purpose::Table);
    let records: Vec<Vec<u8>> = (0..5000u32).map(|n| vec![n as u8; (n % 97) as usize]).collect();
    for record in &records {
        stream.push(|out| out.extend_from_slice(record)).unwrap();
    }
    for _ in 0..2 {
        let mut reader = stream.reader();
        for record in &records {
            assert_eq!(reader.next().unwrap(), Some(&record[..]));
        }
        assert_eq!(reader.next().unwrap(), None);
    }
    assert_eq!(disk.scratch_files(), 1);
    drop(stream);
    assert_eq!(disk.scratch_files(), 0);
}

#[test]
fn each_key_is_new_once() {
    for seed in 0..20 {
        let (disk, mut random) = (SimDisk::new(), Random::new(seed));
        let mut distinct = Distinct::new(tiny(&disk));
        let mut found = Vec::new();
        let mut expected = HashSet::new();
        for _ in 0..3000 {
            let key = key(&mut random, 2000);
            if distinct.offer(&key, |out| out.extend_from_slice(&key)).unwrap() {
                found.push(key.clone());
            }
            expected.insert(key);
        }
        distinct
            .rest(&mut |payload| {
                found.push(payload.to_vec());
                Ok(true)
            })
            .unwrap();
        assert_eq!(found.len(), expected.len(), "seed {seed}");
        assert_eq!(found.into_iter().collect::<HashSet<_>>(), expected, "seed {seed}");
        assert_eq!(disk.scratch_files(), 0);
    }
}

#[test]
fn a_key_set_knows_its_keys_at_any_time() {
    for seed in 0..10 {
        let (disk, mut random) = (SimDisk::new(), Random::new(seed));
        let mut set = KeySet::new(tiny(&disk));
        let mut model = BTreeSet::new();
        for _ in 0..3000 {
            let key = key(&mut random, 1500);
            if random.chance(1, 3) {
                assert_eq!(set.contains(&key).unwrap(), model.contains(&key), "seed {seed}");
            } else {
                assert_eq!(set.insert(&key).unwrap(), model.insert(key), "seed {seed}");
            }
        }
    }
}

#[test]
fn a_list_keeps_its_order() {
    let disk = SimDisk::new();
    let mut list = TupleList::new(tiny(&disk));
    for number in 0..2000i64 {
        list.push(&[Value::Int(number), Value::Text(format!("{number:0>20}"))]).unwrap();
    }
    let mut next = 0;
    list.each(|tuple| {
        assert_eq!(tuple[0], Value::Int(next));
        next += 1;
        Ok(next < 1500)
    })
    .unwrap();
    assert_eq!((next, list.len()), (1500, 2000));
}

#[test]
fn a_list_s_tuples_are_found_by_number_in_any_order() {
    for seed in 0..5 {
        let (disk, mut random) = (SimDisk::new(), Random::new(seed));
        let mut list = TupleList::new(tiny(&disk));
        for number in 0..3000i64 {
            let text = "x".repeat(random.index(60));
            list.push(&[Value::Int(number), Value::Text(text)]).unwrap();
        }
        let (mut near, mut far) = (TuplePosition::default(), TuplePosition::default());
        for at in 0..3000u64 {
            assert_eq!(list.get(at, &mut near).unwrap()[0], Value::Int(at as i64));
            let other = random.below(3000);
            assert_eq!(list.get(other, &mut far).unwrap()[0], Value::Int(other as i64));
        }
    }
}

#[test]
fn few_runs_are_merged_at_a_time_and_equal_keys_keep_their_order() {
    let disk = SimDisk::new();
    let mut runs = Runs::new(tiny(&disk), Purpose::File);
    let mut expected = Vec::new();
    for run in 0..300u32 {
        let mut rows: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for key in [run % 5, 5 + run % 7] {
            rows.push((key.to_be_bytes().to_vec(), run.to_be_bytes().to_vec()));
            expected.push((key, run));
        }
        runs.write(rows.iter().map(|(key, row)| (&key[..], &row[..]))).unwrap();
        assert!(disk.scratch_files() <= 6, "{}", disk.scratch_files());
        assert!(runs.streams().len() <= 16, "{}", runs.streams().len());
    }
    runs.settle().unwrap();
    assert!(runs.streams().len() <= 4, "{}", runs.streams().len());
    expected.sort();
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    let mut found = Vec::new();
    runs.merge(false, |key, row| {
        found.push((number(key), number(row)));
        Ok(true)
    })
    .unwrap();
    assert_eq!(found, expected);
    assert_eq!(disk.scratch_files(), 0);
}

#[test]
fn keys_that_begin_alike_are_sorted_by_their_rest_and_their_length() {
    let stems: [&[u8]; 4] = [b"", b"\0", b"sixteen bytes...", b"sixteen bytes..."];
    let ends: [&[u8]; 4] = [b"", b"\0", b"\0\0", b"a"];
    let mut expected: Vec<(Vec<u8>, usize)> = Vec::new();
    let mut chunk = RecordChunk::default();
    for (number, (stem, end)) in stems.iter().flat_map(|s| ends.map(|e| (s, e))).enumerate() {
        let key = [stem, end].concat();
        chunk.push(&key, &number.to_be_bytes());
        expected.push((key, number));
    }
    chunk.sort();
    expected.sort();
    let number = |value: &[u8]| usize::from_be_bytes(value.try_into().unwrap());
    let sorted = ChunkMerge::new(std::iter::once(&chunk));
    let found: Vec<_> = sorted.map(|(key, value)| (key.to_vec(), number(value))).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_full_device_is_an_error_that_names_what_is_full() {
    for (purpose, code) in
        [(Purpose::Table, ErrorCode::RecordFileFull), (Purpose::File, ErrorCode::FileWrite)]
    {
        let disk = SimDisk::new();
        disk.set_capacity(Some(100_000));
        let mut partitions = Partitions::new(tiny(&disk), purpose, 0);
        let mut random = Random::new(1);
        let error = loop {
            let key = random.next_u64().to_be_bytes();
            if let Err(error) = partitions.push(&key, |out| out.extend_from_slice(&[0; 500])) {
                break error;
            }
        };
        assert_eq!(error.code, code, "{error}");
        drop(partitions);
        assert_eq!(disk.scratch_files(), 0);
    }
}
