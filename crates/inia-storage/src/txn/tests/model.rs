//! Random interleavings of several sessions against a model, at each isolation level.
//!
//! The model is a list of commits, each a map of changed keys. A snapshot is a number of commits; a
//! plain read sees those and the session's own changes, a locking read sees all commits. Nobody
//! waits: a statement that would have to is left out.

use super::*;
use std::collections::BTreeMap;

type Map = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// A small generator; the same seed gives the same run.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

struct Player {
    txn: Txn,
    level: Isolation,
    snapshot: Option<usize>,
    own: Map,
    savepoint: Option<(Savepoint, Map)>,
}

struct Game {
    tree: Tree,
    commits: Vec<Map>,
    random: Random,
    /// Ranges that were read without a cursor.
    short_ranges: usize,
}

impl Game {
    /// What is there after the first `commits` commits, with `own` on top.
    fn state(&self, commits: usize, own: &Map) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let mut state = BTreeMap::new();
        for changes in self.commits[..commits].iter().chain([own]) {
            for (key, value) in changes {
                match value {
                    Some(value) => state.insert(key.clone(), value.clone()),
                    None => state.remove(key),
                };
            }
        }
        state
    }

    fn key(&mut self) -> Vec<u8> {
        format!("{:03}", self.random.below(60)).into_bytes()
    }

    fn value(&mut self) -> Vec<u8> {
        vec![b'a' + self.random.below(26) as u8; 1 + self.random.below(900) as usize]
    }

    fn play(&mut self, player: &mut Player) {
        if !player.txn.is_open() {
            player.txn.begin(player.level);
            player.snapshot = None;
            player.own.clear();
            player.savepoint = None;
        }
        match self.random.below(20) {
            0..=5 => self.write(player),
            6..=8 => self.read_one(player),
            9..=11 => self.scan(player, false),
            12 | 13 => self.scan(player, true),
            14 => player.savepoint = Some((player.txn.savepoint(), player.own.clone())),
            15 => {
                if let Some((savepoint, own)) = &player.savepoint {
                    player.txn.rollback_to(*savepoint).unwrap();
                    player.own = own.clone();
                }
            }
            16 => player.txn.rollback().unwrap(),
            _ => {
                player.txn.commit().unwrap();
                if !player.own.is_empty() {
                    self.commits.push(std::mem::take(&mut player.own));
                }
            }
        }
    }

    /// The number of commits that a plain read of the player sees.
    fn seen(&self, player: &mut Player) -> usize {
        player.txn.begin_statement();
        if player.level == Isolation::ReadCommitted {
            return self.commits.len();
        }
        *player.snapshot.get_or_insert(self.commits.len())
    }

    fn write(&mut self, player: &mut Player) {
        let (key, value) = (self.key(), self.value());
        let before = player.txn.savepoint();
        let newest = self.state(self.commits.len(), &player.own);
        let there = newest.contains_key(&key);
        let (tree, txn) = (&self.tree, &mut player.txn);
        let (result, expected, new) = match self.random.below(3) {
            0 => match txn.insert(tree, &key, &value) {
                Err(StorageError::DuplicateKey) => (Ok(false), !there, Some(value)),
                other => (other.map(|()| true), !there, Some(value)),
            },
            1 => (txn.update(tree, &key, &value), there, Some(value)),
            _ => (txn.delete(tree, &key), there, None),
        };
        match result {
            Ok(done) => {
                assert_eq!(done, expected, "{}", text(&key));
                if done {
                    player.own.insert(key, new);
                }
            }
            Err(StorageError::LockWaitTimeout | StorageError::Deadlock) => {
                player.txn.rollback_statement(before).unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn read_one(&mut self, player: &mut Player) {
        let key = self.key();
        let seen = self.seen(player);
        let expected = self.state(seen, &player.own).get(&key).cloned();
        let found = player.txn.get(&self.tree, &key, <[u8]>::to_vec).unwrap();
        assert!(found == expected, "{} at {seen}", text(&key));
    }

    fn scan(&mut self, player: &mut Player, locking: bool) {
        let (mut low, mut high) = (self.key(), self.key());
        if low > high {
            std::mem::swap(&mut low, &mut high);
        }
        let direction = match self.random.below(2) {
            0 => Direction::Forward,
            _ => Direction::Backward,
        };
        let seen = if locking { self.commits.len() } else { self.seen(player) };
        let state = self.state(seen, &player.own);
        let mut expected: Vec<_> =
            state.range(low.clone()..=high.clone()).map(|(k, v)| (k.clone(), v.clone())).collect();
        if direction == Direction::Backward {
            expected.reverse();
        }
        let mode = if locking { ReadMode::Lock(X_NOWAIT) } else { ReadMode::Snapshot };
        let bounds = (KeyBound::Included(&low[..]), KeyBound::Included(&high[..]));
        let mut cursor = player.txn.cursor(&self.tree, bounds.0, bounds.1, direction, mode);
        let mut found = Vec::new();
        loop {
            match cursor.next(&mut player.txn) {
                Ok(Some(record)) => found.push((record.key.to_vec(), record.value.to_vec())),
                Ok(None) => break,
                Err(StorageError::LockNotAvailable) => return,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(found == expected, "{mode:?} {direction:?}");
        if !locking {
            self.scan_parts(player, bounds, direction, &expected);
            if direction == Direction::Forward {
                self.read_range(player, (&low, &high), &expected);
            }
        }
    }

    /// Reads the range without a cursor, where that can be done.
    fn read_range(
        &mut self,
        player: &mut Player,
        (low, high): (&[u8], &[u8]),
        expected: &[(Vec<u8>, Vec<u8>)],
    ) {
        let (end, mut found) = ([high, &[0]].concat(), ShortRanges::default());
        for times in 1..=2 {
            if !player.txn.get_range(&self.tree, (low, &end), &mut found).unwrap() {
                assert!(found.is_empty() || times == 2, "nothing is added");
                return;
            }
            self.short_ranges += 1;
            assert_eq!(found.len(), expected.len() * times);
            for (i, (key, value)) in expected.iter().cycle().take(found.len()).enumerate() {
                assert_eq!((found.key(i), found.value(i)), (&key[..], &value[..]));
            }
        }
    }

    /// Scans the beginnings of the values, by runs and by single moves in turn.
    fn scan_parts(
        &mut self,
        player: &mut Player,
        (lower, upper): (KeyBound<'_>, KeyBound<'_>),
        direction: Direction,
        expected: &[(Vec<u8>, Vec<u8>)],
    ) {
        let bytes = self.random.below(12) as usize;
        let start = |value: &[u8]| value[..bytes.min(value.len())].to_vec();
        let mut cursor = player.txn.snapshot_cursor(&self.tree, lower, upper, direction);
        cursor.narrow(bytes);
        let mut found = Vec::new();
        loop {
            if self.random.below(2) == 0 {
                while let Some(run) = cursor.run(&mut player.txn).unwrap() {
                    found.extend((0..run.len()).map(|i| start(run.value(i))));
                }
            }
            if !cursor.advance(&mut player.txn).unwrap() {
                break;
            }
            found.push(start(cursor.current().unwrap().value));
        }
        let expected = expected.iter().map(|(_, value)| start(value));
        assert!(found.iter().cloned().eq(expected), "{direction:?}, {bytes} bytes of each value");
    }
}

fn run(level: Isolation, seed: u64, moves: usize) {
    let engine = match seed % 2 {
        0 => open(),
        _ => open_spilling(Arc::new(MemDisk::new()), false),
    };
    let tree = tree_with(&engine, &[]);
    let mut game = Game { tree, commits: Vec::new(), random: Random::new(seed), short_ranges: 0 };
    let mut players: Vec<Player> = (0..5)
        .map(|_| {
            let mut txn = engine.attach();
            txn.set_lock_wait_timeout(Duration::ZERO);
            Player { txn, level, snapshot: None, own: Map::new(), savepoint: None }
        })
        .collect();
    for _ in 0..moves {
        let who = game.random.below(players.len() as u64) as usize;
        game.play(&mut players[who]);
        if game.random.below(10) == 0 {
            engine.background_step().unwrap();
        }
    }
    drop(players);
    assert!(game.short_ranges > 20, "{} ranges without a cursor", game.short_ranges);
    run_background(&engine);
    assert_eq!(engine.check(&[game.tree.id()]).unwrap(), Vec::<String>::new());
    let records = game.state(game.commits.len(), &Map::new()).len() as u64;
    assert_eq!(engine.estimate_rows(&game.tree).unwrap(), records, "purge has removed the rest");
    assert_eq!(engine.stats().history_length, 0);
}

#[test]
fn repeatable_read_equals_the_model() {
    for seed in 1..=6 {
        run(Isolation::RepeatableRead, seed, 1500);
    }
}

#[test]
fn read_committed_equals_the_model() {
    for seed in 1..=6 {
        run(Isolation::ReadCommitted, seed, 1500);
    }
}
