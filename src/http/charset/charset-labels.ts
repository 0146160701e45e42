/**
 * The labels of encodings, and the decoder for each. The labels are the names and aliases of Python's codecs, as
 * `normalizeLabel` spells them. Like w3lib, some map to a superset: `latin1` to windows-1252, `gb2312` to gb18030.
 * WHATWG's labels differ from Scrapy's: WHATWG has `x-gbk` but not `latin_1`, Scrapy the reverse.
 */

/** The decoders: WHATWG names for TextDecoder, and three more that decode-body.ts handles itself. */
const LABELS: Readonly<Record<string, string>> = {
  'utf-8': 'utf8 utf_8 utf u8 cp65001 utf8_ucs2 utf8_ucs4 utf_8_sig',
  'utf-16be': 'utf_16be utf_16_be unicodebigunmarked',
  'utf-16le': 'utf_16le utf_16_le unicodelittleunmarked',
  // Without a byte order mark. A header means big-endian (w3lib, RFC 2781), a meta tag cannot mean it at all.
  'utf-16': 'utf16 utf_16 u16',
  'utf-32be': 'utf_32be utf_32_be utf32 utf_32 u32',
  'utf-32le': 'utf_32le utf_32_le',
  'windows-1252':
    'windows_1252 cp1252 1252 ascii us_ascii us 646 iso646_us ansi_x3.4_1968 ansi_x3.4_1986 ansi_x3_4_1968 csascii cp367 ibm367 iso_646.irv_1991 iso_ir_6 latin_1 latin1 latin l1 iso8859_1 iso_8859_1 iso_8859_1_1987 iso8859 8859 iso_ir_100 cp819 ibm819 csisolatin1',
  'windows-1250': 'windows_1250 cp1250 1250',
  'windows-1251': 'windows_1251 cp1251 1251 win_1251',
  'windows-1253': 'windows_1253 cp1253 1253',
  'windows-1254':
    'windows_1254 cp1254 1254 iso8859_9 iso_8859_9 iso_8859_9_1989 iso_ir_148 latin5 l5 csisolatin5',
  'windows-1255': 'windows_1255 cp1255 1255',
  'windows-1256': 'windows_1256 cp1256 1256',
  'windows-1257': 'windows_1257 cp1257 1257',
  'windows-1258': 'windows_1258 cp1258 1258',
  'windows-874':
    'windows_874 win_874 cp874 iso8859_11 iso_8859_11 iso_8859_11_2001 iso_ir_166 thai tis620 tis_620 tis_620_0 tis_620_2529_0 tis_620_2529_1',
  'iso-8859-2': 'iso8859_2 iso_8859_2 iso_8859_2_1987 iso_ir_101 latin2 l2 csisolatin2',
  'iso-8859-3': 'iso8859_3 iso_8859_3 iso_8859_3_1988 iso_ir_109 latin3 l3 csisolatin3',
  'iso-8859-4': 'iso8859_4 iso_8859_4 iso_8859_4_1988 iso_ir_110 latin4 l4 csisolatin4',
  'iso-8859-5': 'iso8859_5 iso_8859_5 iso_8859_5_1988 iso_ir_144 cyrillic csisolatincyrillic',
  'iso-8859-6': 'iso8859_6 iso_8859_6 iso_8859_6_1987 iso_ir_127 arabic asmo_708 ecma_114 csisolatinarabic',
  'iso-8859-7':
    'iso8859_7 iso_8859_7 iso_8859_7_1987 iso_ir_126 greek greek8 ecma_118 elot_928 csisolatingreek',
  'iso-8859-8': 'iso8859_8 iso_8859_8 iso_8859_8_1988 iso_ir_138 hebrew csisolatinhebrew',
  'iso-8859-10': 'iso8859_10 iso_8859_10 iso_8859_10_1992 iso_ir_157 latin6 l6 csisolatin6',
  'iso-8859-13': 'iso8859_13 iso_8859_13 latin7 l7',
  'iso-8859-14': 'iso8859_14 iso_8859_14 iso_8859_14_1998 iso_ir_199 iso_celtic latin8 l8',
  'iso-8859-15': 'iso8859_15 iso_8859_15 latin9 l9',
  'iso-8859-16': 'iso8859_16 iso_8859_16 iso_8859_16_2001 iso_ir_226 latin10 l10',
  'koi8-r': 'koi8_r cskoi8r',
  'koi8-u': 'koi8_u',
  ibm866: 'cp866 ibm866 866 csibm866',
  macintosh: 'macintosh mac_roman macroman',
  'x-mac-cyrillic': 'mac_cyrillic maccyrillic',
  gb18030:
    'gb18030 gb18030_2000 gbk cp936 936 ms936 gb2312 gb2312_80 gb_2312_80 gb2312_1980 euc_cn euccn eucgb2312_cn chinese csiso58gb231280 iso_ir_58 x_mac_simp_chinese zh_cn',
  big5: 'big5 csbig5 big5_tw big5_hkscs big5hkscs hkscs x_mac_trad_chinese cp950 950 ms950',
  shift_jis:
    'shift_jis shiftjis sjis s_jis x_sjis csshiftjis cp932 932 ms932 ms_kanji mskanji windows_31j win_31j x_mac_japanese',
  'euc-jp': 'euc_jp eucjp ujis u_jis',
  'iso-2022-jp': 'iso2022_jp iso2022jp iso_2022_jp csiso2022jp',
  'euc-kr':
    'euc_kr euckr cp949 949 ms949 uhc korean ks_c_5601 ks_c_5601_1987 ksc5601 ks_x_1001 ksx1001 x_mac_korean',
};

const DECODERS: ReadonlyMap<string, string> = new Map(
  Object.entries(LABELS).flatMap(([decoder, labels]) => labels.split(' ').map((label) => [label, decoder])),
);

/** @returns the name of the decoder for a label as written in a page or header; null for an unknown label. */
export function resolveLabel(label: string): string | null {
  return DECODERS.get(normalizeLabel(label)) ?? null;
}

/** As Python's `encodings.normalize_encoding`: lower case, with one underscore for any run of other characters. */
function normalizeLabel(label: string): string {
  return label
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '_')
    .replace(/^_|_$/g, '');
}
