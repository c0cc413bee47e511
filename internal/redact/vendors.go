package redact

// vendorPrefix is how a vendor's credentials begin, and how many characters of
// a token (letters, digits, dash, underscore) must follow at least.
type vendorPrefix struct {
	prefix string
	least  int
}

// vendorPrefixes by their first character. Sources: each vendor's documentation
// of its token formats. The least lengths are below the real ones, so that a
// shortened credential counts too. A hit also needs a digit or a capital letter
// behind the prefix, since words do not have them.
var vendorPrefixes = byFirst([]vendorPrefix{
	{"ghp_", 10}, {"gho_", 10}, {"ghu_", 10}, {"ghs_", 10}, {"ghr_", 10}, {"github_pat_", 10},
	{"glpat-", 10}, {"gldt-", 10}, {"glrt-", 10}, {"glptt-", 10}, {"glsoat-", 10}, {"glcbt-", 10}, {"gloas-", 10},
	{"sk-", 12}, {"sk_live_", 10}, {"sk_test_", 10}, {"rk_live_", 10}, {"rk_test_", 10}, {"pk_live_", 10}, {"sk_", 24},
	{"whsec_", 10}, {"xoxb-", 8}, {"xoxa-", 8}, {"xoxp-", 8}, {"xoxr-", 8}, {"xoxs-", 8}, {"xoxc-", 8}, {"xapp-", 8},
	{"AKIA", 12}, {"ASIA", 12}, {"AROA", 12}, {"AIDA", 12}, {"ABIA", 12}, {"ACCA", 12}, {"AIza", 20}, {"ya29", 16},
	{"GOCSPX-", 10}, {"npm_", 16}, {"pypi-", 16}, {"rubygems_", 16}, {"dop_v1_", 10}, {"doo_v1_", 10}, {"dor_v1_", 10},
	{"shpat_", 10}, {"shpss_", 10}, {"shpca_", 10}, {"shppa_", 10}, {"sq0atp-", 10}, {"sq0csp-", 10}, {"EAAA", 40},
	{"SG", 40}, {"hf_", 16}, {"r8_", 16}, {"tvly-", 10}, {"pplx-", 16}, {"gsk_", 16}, {"xai-", 16}, {"nvapi-", 16},
	{"dckr_pat_", 8}, {"dckr_oat_", 8}, {"lin_api_", 10}, {"lin_oauth_", 10}, {"ntn_", 16}, {"secret_", 24}, {"figd_", 16},
	{"hvs", 20}, {"hvb", 20}, {"AGE-SECRET-KEY-", 10}, {"PMAK-", 10}, {"NRAK-", 10}, {"glc_", 16}, {"glsa_", 16},
	{"sntrys_", 16}, {"sntryu_", 16}, {"phx_", 16}, {"sbp_", 16}, {"ATATT3", 16}, {"ATCTT3", 16}, {"ops_", 24},
	{"fo1_", 16}, {"fm2_", 16}, {"pul-", 20}, {"lsv2_", 16}, {"jina_", 16}, {"re_", 20}, {"patv1", 16}, {"EZAK", 20},
	{"cfut_", 16}, {"vcp_", 16}, {"tskey-", 10}, {"key-", 28}, {"sl.", 40}, {"apify_api_", 10}, {"fc-", 24}, {"BSA", 24},
})

func byFirst(list []vendorPrefix) map[byte][]vendorPrefix {
	out := map[byte][]vendorPrefix{}
	for _, p := range list {
		out[p.prefix[0]] = append(out[p.prefix[0]], p)
	}
	return out
}
