//! Which parameters the EPSG's map projections cannot do without.

/// EPSG's number of Popular Visualisation Pseudo Mercator.
pub(super) const PSEUDO_MERCATOR: u32 = 1024;

/// The parameters' numbers and names.
const NAMES: &[(u32, &str)] = &[
    (1026, "c1"),
    (1027, "c2"),
    (1028, "c3"),
    (1029, "c4"),
    (1030, "c5"),
    (1031, "c6"),
    (1032, "c7"),
    (1033, "c8"),
    (1034, "c9"),
    (1035, "c10"),
    (1036, "azimuth"),
    (1038, "ellipsoid_scale_factor"),
    (1039, "projection_plane_height_at_origin"),
    (8617, "evaluation_point_ordinate_1"),
    (8618, "evaluation_point_ordinate_2"),
    (8801, "latitude_of_origin"),
    (8802, "central_meridian"),
    (8805, "scale_factor"),
    (8806, "false_easting"),
    (8807, "false_northing"),
    (8811, "latitude_of_center"),
    (8812, "longitude_of_center"),
    (8813, "azimuth"),
    (8814, "rectified_grid_angle"),
    (8815, "scale_factor"),
    (8816, "false_easting"),
    (8817, "false_northing"),
    (8818, "pseudo_standard_parallel_1"),
    (8819, "scale_factor"),
    (8821, "latitude_of_origin"),
    (8822, "central_meridian"),
    (8823, "standard_parallel_1"),
    (8824, "standard_parallel_2"),
    (8826, "false_easting"),
    (8827, "false_northing"),
    (8830, "initial_longitude"),
    (8831, "zone_width"),
    (8832, "standard_parallel"),
    (8833, "longitude_of_center"),
];

const NATURAL: &[u32] = &[8801, 8802, 8806, 8807];
const SCALED: &[u32] = &[8801, 8802, 8805, 8806, 8807];
const PARALLEL: &[u32] = &[8823, 8802, 8806, 8807];
const CONIC: &[u32] = &[8821, 8822, 8823, 8824, 8826, 8827];
const KROVAK: &[u32] = &[8811, 8833, 1036, 8818, 8819, 8806, 8807];
const KROVAK_MODIFIED: &[u32] = &[
    8811, 8833, 1036, 8818, 8819, 8806, 8807, 8617, 8618, 1026, 1027, 1028, 1029, 1030, 1031, 1032,
    1033, 1034, 1035,
];

/// The parameters of a method, in the order in which they are missed; `None` for methods of which
/// nothing is asked.
pub(super) fn parameters(method: u32) -> Option<&'static [u32]> {
    Some(match method {
        1024 | 1027 | 9806 | 9811 | 9818 | 9820 | 9828 | 9831 | 9832 | 9833 => NATURAL,
        9801 | 9804 | 9807 | 9808 | 9809 | 9810 | 9817 | 9826 => SCALED,
        1028 | 1029 | 9805 | 9834 | 9835 => PARALLEL,
        9802 | 9803 | 9822 => CONIC,
        1041 | 9819 => KROVAK,
        1042 | 1043 => KROVAK_MODIFIED,
        1051 => &[8821, 8822, 8823, 8824, 8826, 8827, 1038],
        1052 => &[8801, 8802, 8806, 8807, 1039],
        9812 => &[8811, 8812, 8813, 8814, 8815, 8806, 8807],
        9813 => &[8811, 8812, 8813, 8815, 8806, 8807],
        9815 => &[8811, 8812, 8813, 8814, 8815, 8816, 8817],
        9816 => &[8821, 8822, 8826, 8827],
        9824 => &[8801, 8830, 8831, 8805, 8806, 8807],
        9829 => &[8832, 8833, 8806, 8807],
        9830 => &[8832, 8833, 8826, 8827],
        _ => return None,
    })
}

/// The name of a parameter.
pub(super) fn name(parameter: u32) -> &'static str {
    let found = NAMES.binary_search_by_key(&parameter, |(number, _)| *number);
    found.map_or("", |at| NAMES[at].1)
}
