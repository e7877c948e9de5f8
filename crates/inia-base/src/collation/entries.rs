//! Every collation, in the order of `information_schema.COLLATIONS`: by character set, then by
//! number.

use super::Order::{self, Bytes, CodePoints, Table};
use super::casing::Casing::{
    self, AsciiCase, NoCase, Set, Turkish, Unicode300, Unicode520, Unicode900,
};
use super::charset::Charset::{self, Ascii, Binary, Latin1, Utf8mb3, Utf8mb4};
use super::tables::*;

/// One line of SHOW COLLATION, and how it works.
pub(super) struct Entry {
    pub(super) id: u16,
    pub(super) name: &'static str,
    pub(super) charset: Charset,
    pub(super) sort_len: u32,
    pub(super) pad: bool,
    pub(super) casing: Casing,
    pub(super) order: Order,
}

const fn entry(
    id: u16,
    name: &'static str,
    charset: Charset,
    sort_len: u32,
    casing: Casing,
    order: Order,
) -> Entry {
    // `binary` and the collations of UCA 9.0.0 do not pad.
    let pad = id != 63 && id < 255;
    Entry { id, name, charset, sort_len, pad, casing, order }
}

/// The highest number of a collation.
const MAX_ID: usize = 323;

/// Place of each number in [`ENTRIES`]; an unknown one has that of `utf8mb4_0900_ai_ci`.
static PLACES: [u16; MAX_ID + 1] = {
    let mut places = [u16::MAX; MAX_ID + 1];
    let mut default = 0;
    let mut at = 0;
    while at < ENTRIES.len() {
        places[ENTRIES[at].id as usize] = at as u16;
        if ENTRIES[at].id == 255 {
            default = at as u16;
        }
        at += 1;
    }
    at = 0;
    while at < places.len() {
        if places[at] == u16::MAX {
            places[at] = default;
        }
        at += 1;
    }
    places
};

/// The entry of a collation's number.
#[inline]
pub(super) fn of(id: u16) -> &'static Entry {
    let id = if usize::from(id) < PLACES.len() { id } else { 255 };
    &ENTRIES[usize::from(PLACES[usize::from(id)])]
}

/// The collations.
#[rustfmt::skip]
pub(super) static ENTRIES: [Entry; 128] = [
    entry(11, "ascii_general_ci", Ascii, 1, AsciiCase, Table(&GENERAL)),
    entry(65, "ascii_bin", Ascii, 1, AsciiCase, CodePoints),
    entry(63, "binary", Binary, 1, NoCase, Bytes),
    entry(5, "latin1_german1_ci", Latin1, 1, Set(&LATIN1_SET), Table(&LATIN1_GERMAN1_CI)),
    entry(8, "latin1_swedish_ci", Latin1, 1, Set(&LATIN1_SET), Table(&LATIN1_SWEDISH_CI)),
    entry(15, "latin1_danish_ci", Latin1, 1, Set(&LATIN1_SET), Table(&LATIN1_DANISH_CI)),
    entry(31, "latin1_german2_ci", Latin1, 2, Set(&LATIN1_SET), Table(&LATIN1_GERMAN2_CI)),
    entry(47, "latin1_bin", Latin1, 1, Set(&LATIN1_SET), Table(&LATIN1_BIN)),
    entry(48, "latin1_general_ci", Latin1, 1, Set(&LATIN1_SET), Table(&LATIN1_GENERAL_CI)),
    entry(49, "latin1_general_cs", Latin1, 1, Set(&LATIN1_SET), Table(&LATIN1_GENERAL_CS)),
    entry(94, "latin1_spanish_ci", Latin1, 1, Set(&LATIN1_SET), Table(&LATIN1_SPANISH_CI)),
    entry(33, "utf8mb3_general_ci", Utf8mb3, 1, Unicode300, Table(&GENERAL)),
    entry(76, "utf8mb3_tolower_ci", Utf8mb3, 1, Unicode300, Table(&GENERAL_TOLOWER)),
    entry(83, "utf8mb3_bin", Utf8mb3, 1, Unicode300, CodePoints),
    entry(192, "utf8mb3_unicode_ci", Utf8mb3, 8, Unicode300, Table(&UCA_400)),
    entry(193, "utf8mb3_icelandic_ci", Utf8mb3, 8, Unicode300, Table(&ICELANDIC)),
    entry(194, "utf8mb3_latvian_ci", Utf8mb3, 8, Unicode300, Table(&LATVIAN)),
    entry(195, "utf8mb3_romanian_ci", Utf8mb3, 8, Unicode300, Table(&ROMANIAN)),
    entry(196, "utf8mb3_slovenian_ci", Utf8mb3, 8, Unicode300, Table(&SLOVENIAN)),
    entry(197, "utf8mb3_polish_ci", Utf8mb3, 8, Unicode300, Table(&POLISH)),
    entry(198, "utf8mb3_estonian_ci", Utf8mb3, 8, Unicode300, Table(&ESTONIAN)),
    entry(199, "utf8mb3_spanish_ci", Utf8mb3, 8, Unicode300, Table(&SPANISH)),
    entry(200, "utf8mb3_swedish_ci", Utf8mb3, 8, Unicode300, Table(&SWEDISH)),
    entry(201, "utf8mb3_turkish_ci", Utf8mb3, 8, Turkish, Table(&TURKISH)),
    entry(202, "utf8mb3_czech_ci", Utf8mb3, 8, Unicode300, Table(&CZECH)),
    entry(203, "utf8mb3_danish_ci", Utf8mb3, 8, Unicode300, Table(&DANISH)),
    entry(204, "utf8mb3_lithuanian_ci", Utf8mb3, 8, Unicode300, Table(&LITHUANIAN)),
    entry(205, "utf8mb3_slovak_ci", Utf8mb3, 8, Unicode300, Table(&SLOVAK)),
    entry(206, "utf8mb3_spanish2_ci", Utf8mb3, 8, Unicode300, Table(&SPANISH2)),
    entry(207, "utf8mb3_roman_ci", Utf8mb3, 8, Unicode300, Table(&ROMAN)),
    entry(208, "utf8mb3_persian_ci", Utf8mb3, 8, Unicode300, Table(&PERSIAN)),
    entry(209, "utf8mb3_esperanto_ci", Utf8mb3, 8, Unicode300, Table(&ESPERANTO)),
    entry(210, "utf8mb3_hungarian_ci", Utf8mb3, 8, Unicode300, Table(&HUNGARIAN)),
    entry(211, "utf8mb3_sinhala_ci", Utf8mb3, 8, Unicode300, Table(&SINHALA)),
    entry(212, "utf8mb3_german2_ci", Utf8mb3, 8, Unicode300, Table(&GERMAN2)),
    entry(213, "utf8mb3_croatian_ci", Utf8mb3, 8, Unicode300, Table(&CROATIAN)),
    entry(214, "utf8mb3_unicode_520_ci", Utf8mb3, 8, Unicode520, Table(&UCA_520)),
    entry(215, "utf8mb3_vietnamese_ci", Utf8mb3, 8, Unicode300, Table(&VIETNAMESE)),
    entry(223, "utf8mb3_general_mysql500_ci", Utf8mb3, 1, Unicode300, Table(&GENERAL_MYSQL500)),
    entry(45, "utf8mb4_general_ci", Utf8mb4, 1, Unicode300, Table(&GENERAL)),
    entry(46, "utf8mb4_bin", Utf8mb4, 1, Unicode300, CodePoints),
    entry(224, "utf8mb4_unicode_ci", Utf8mb4, 8, Unicode300, Table(&UCA_400)),
    entry(225, "utf8mb4_icelandic_ci", Utf8mb4, 8, Unicode300, Table(&ICELANDIC)),
    entry(226, "utf8mb4_latvian_ci", Utf8mb4, 8, Unicode300, Table(&LATVIAN)),
    entry(227, "utf8mb4_romanian_ci", Utf8mb4, 8, Unicode300, Table(&ROMANIAN)),
    entry(228, "utf8mb4_slovenian_ci", Utf8mb4, 8, Unicode300, Table(&SLOVENIAN)),
    entry(229, "utf8mb4_polish_ci", Utf8mb4, 8, Unicode300, Table(&POLISH)),
    entry(230, "utf8mb4_estonian_ci", Utf8mb4, 8, Unicode300, Table(&ESTONIAN)),
    entry(231, "utf8mb4_spanish_ci", Utf8mb4, 8, Unicode300, Table(&SPANISH)),
    entry(232, "utf8mb4_swedish_ci", Utf8mb4, 8, Unicode300, Table(&SWEDISH)),
    entry(233, "utf8mb4_turkish_ci", Utf8mb4, 8, Turkish, Table(&TURKISH)),
    entry(234, "utf8mb4_czech_ci", Utf8mb4, 8, Unicode300, Table(&CZECH)),
    entry(235, "utf8mb4_danish_ci", Utf8mb4, 8, Unicode300, Table(&DANISH)),
    entry(236, "utf8mb4_lithuanian_ci", Utf8mb4, 8, Unicode300, Table(&LITHUANIAN)),
    entry(237, "utf8mb4_slovak_ci", Utf8mb4, 8, Unicode300, Table(&SLOVAK)),
    entry(238, "utf8mb4_spanish2_ci", Utf8mb4, 8, Unicode300, Table(&SPANISH2)),
    entry(239, "utf8mb4_roman_ci", Utf8mb4, 8, Unicode300, Table(&ROMAN)),
    entry(240, "utf8mb4_persian_ci", Utf8mb4, 8, Unicode300, Table(&PERSIAN)),
    entry(241, "utf8mb4_esperanto_ci", Utf8mb4, 8, Unicode300, Table(&ESPERANTO)),
    entry(242, "utf8mb4_hungarian_ci", Utf8mb4, 8, Unicode300, Table(&HUNGARIAN)),
    entry(243, "utf8mb4_sinhala_ci", Utf8mb4, 8, Unicode300, Table(&SINHALA)),
    entry(244, "utf8mb4_german2_ci", Utf8mb4, 8, Unicode300, Table(&GERMAN2)),
    entry(245, "utf8mb4_croatian_ci", Utf8mb4, 8, Unicode300, Table(&CROATIAN)),
    entry(246, "utf8mb4_unicode_520_ci", Utf8mb4, 8, Unicode520, Table(&UCA_520)),
    entry(247, "utf8mb4_vietnamese_ci", Utf8mb4, 8, Unicode300, Table(&VIETNAMESE)),
    entry(255, "utf8mb4_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&UCA_900_AI_CI)),
    entry(256, "utf8mb4_de_pb_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&DE_PB_AI_CI)),
    entry(257, "utf8mb4_is_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&IS_AI_CI)),
    entry(258, "utf8mb4_lv_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&LV_AI_CI)),
    entry(259, "utf8mb4_ro_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&RO_AI_CI)),
    entry(260, "utf8mb4_sl_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&SL_AI_CI)),
    entry(261, "utf8mb4_pl_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&PL_AI_CI)),
    entry(262, "utf8mb4_et_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&ET_AI_CI)),
    entry(263, "utf8mb4_es_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&ES_AI_CI)),
    entry(264, "utf8mb4_sv_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&SV_AI_CI)),
    entry(265, "utf8mb4_tr_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&TR_AI_CI)),
    entry(266, "utf8mb4_cs_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&CS_AI_CI)),
    entry(267, "utf8mb4_da_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&DA_AI_CI)),
    entry(268, "utf8mb4_lt_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&LT_AI_CI)),
    entry(269, "utf8mb4_sk_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&SK_AI_CI)),
    entry(270, "utf8mb4_es_trad_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&ES_TRAD_AI_CI)),
    entry(271, "utf8mb4_la_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&LA_AI_CI)),
    entry(273, "utf8mb4_eo_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&EO_AI_CI)),
    entry(274, "utf8mb4_hu_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&HU_AI_CI)),
    entry(275, "utf8mb4_hr_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&HR_AI_CI)),
    entry(277, "utf8mb4_vi_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&VI_AI_CI)),
    entry(278, "utf8mb4_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&UCA_900_AS_CS)),
    entry(279, "utf8mb4_de_pb_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&DE_PB_AS_CS)),
    entry(280, "utf8mb4_is_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&IS_AS_CS)),
    entry(281, "utf8mb4_lv_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&LV_AS_CS)),
    entry(282, "utf8mb4_ro_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&RO_AS_CS)),
    entry(283, "utf8mb4_sl_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&SL_AS_CS)),
    entry(284, "utf8mb4_pl_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&PL_AS_CS)),
    entry(285, "utf8mb4_et_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&ET_AS_CS)),
    entry(286, "utf8mb4_es_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&ES_AS_CS)),
    entry(287, "utf8mb4_sv_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&SV_AS_CS)),
    entry(288, "utf8mb4_tr_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&TR_AS_CS)),
    entry(289, "utf8mb4_cs_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&CS_AS_CS)),
    entry(290, "utf8mb4_da_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&DA_AS_CS)),
    entry(291, "utf8mb4_lt_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&LT_AS_CS)),
    entry(292, "utf8mb4_sk_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&SK_AS_CS)),
    entry(293, "utf8mb4_es_trad_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&ES_TRAD_AS_CS)),
    entry(294, "utf8mb4_la_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&LA_AS_CS)),
    entry(296, "utf8mb4_eo_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&EO_AS_CS)),
    entry(297, "utf8mb4_hu_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&HU_AS_CS)),
    entry(298, "utf8mb4_hr_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&HR_AS_CS)),
    entry(300, "utf8mb4_vi_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&VI_AS_CS)),
    entry(303, "utf8mb4_ja_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&JA_AS_CS)),
    entry(304, "utf8mb4_ja_0900_as_cs_ks", Utf8mb4, 24, Unicode900, Table(&JA_AS_CS_KS)),
    entry(305, "utf8mb4_0900_as_ci", Utf8mb4, 0, Unicode900, Table(&UCA_900_AS_CI)),
    entry(306, "utf8mb4_ru_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&RU_AI_CI)),
    entry(307, "utf8mb4_ru_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&RU_AS_CS)),
    entry(308, "utf8mb4_zh_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&ZH_AS_CS)),
    entry(309, "utf8mb4_0900_bin", Utf8mb4, 1, Unicode900, CodePoints),
    entry(310, "utf8mb4_nb_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&NB_AI_CI)),
    entry(311, "utf8mb4_nb_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&NB_AS_CS)),
    entry(312, "utf8mb4_nn_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&NB_AI_CI)),
    entry(313, "utf8mb4_nn_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&NB_AS_CS)),
    entry(314, "utf8mb4_sr_latn_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&HR_AI_CI)),
    entry(315, "utf8mb4_sr_latn_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&HR_AS_CS)),
    entry(316, "utf8mb4_bs_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&HR_AI_CI)),
    entry(317, "utf8mb4_bs_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&HR_AS_CS)),
    entry(318, "utf8mb4_bg_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&RU_AI_CI)),
    entry(319, "utf8mb4_bg_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&RU_AS_CS)),
    entry(320, "utf8mb4_gl_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&GL_AI_CI)),
    entry(321, "utf8mb4_gl_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&GL_AS_CS)),
    entry(322, "utf8mb4_mn_cyrl_0900_ai_ci", Utf8mb4, 0, Unicode900, Table(&RU_AI_CI)),
    entry(323, "utf8mb4_mn_cyrl_0900_as_cs", Utf8mb4, 0, Unicode900, Table(&RU_AS_CS)),
];
