//! Column definitions, byte for byte and there and back.

use super::*;
use crate::testing::Random;

fn column(data_type: DataType) -> ResultColumn {
    ResultColumn {
        schema: "db".to_owned(),
        table: "t".to_owned(),
        org_table: "sbtest1".to_owned(),
        name: "c".to_owned(),
        org_name: "col".to_owned(),
        data_type,
        flags: 0,
        length: 480,
        decimals: 0,
    }
}

#[test]
fn a_char_column_byte_for_byte() {
    let mut bytes = Vec::new();
    let data_type = DataType::Char { chars: 120, collation: Collation::DEFAULT };
    put_column(&mut bytes, &column(data_type), 45);
    assert_eq!(
        bytes,
        b"\x03def\x02db\x01t\x07sbtest1\x01c\x03col\x0c\x2d\0\xe0\x01\0\0\xfe\0\0\0\0\0"
    );
    let def = ColumnDef::decode(&bytes).unwrap();
    assert_eq!((def.name.as_str(), def.collation, def.length), ("c", 45, 480));
}

#[test]
fn type_codes_collations_and_flags() {
    let utf8 = Collation::DEFAULT;
    let members = || ["a".to_owned()].into();
    let cases = [
        (DataType::Int { width: IntWidth::Medium, unsigned: true }, 9, 63, 32),
        (DataType::Year, 13, 63, 32 | 64),
        (DataType::Enum { members: members(), collation: utf8 }, 254, 45, 256),
        (DataType::Set { members: members(), collation: utf8 }, 254, 45, 2048),
        (DataType::Json, 245, 63, 16 | 128),
        (DataType::VarBinary(3), 253, 63, 128),
        (DataType::VarChar { chars: 3, collation: Collation::BINARY }, 253, 63, 128),
        (DataType::VarChar { chars: 3, collation: Collation::UTF8MB4_BIN }, 253, 45, 128),
        (DataType::Int { width: IntWidth::Int, unsigned: false }, 3, 63, 0),
        (DataType::Null, 6, 63, 128),
    ];
    for (data_type, code, collation, flags) in cases {
        let mut bytes = Vec::new();
        put_column(&mut bytes, &column(data_type.clone()), 45);
        let def = ColumnDef::decode(&bytes).unwrap();
        assert_eq!(
            (def.type_code, def.collation, def.flags),
            (code, collation, flags),
            "{data_type:?}"
        );
    }
}

#[test]
fn any_bytes_give_a_result() {
    let mut random = Random::new(4);
    for _ in 0..20_000 {
        let _ = ColumnDef::decode(&random.bytes(60));
    }
}
