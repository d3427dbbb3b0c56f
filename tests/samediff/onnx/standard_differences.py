"""Cases of the standard that fail here, by name, and why."""

_TEXTS = "nothing computes with texts"
_HALF = "sums of half-precision numbers are rounded at other places"
_RANDOM = "random numbers are this library's own"

DIFFERENCES: dict[str, str] = {
    r"test_ai_onnx_ml_label_encoder_(string|tensor).*": _TEXTS,
    r"test_regex_full_match_.*": _TEXTS,
    r"test_string_.*": _TEXTS,
    r"test_strnormalizer_.*": _TEXTS,
    r"test_tfidfvectorizer_.*": "there is no counterpart of n-grams",
    r"test_image_decoder_.*": "pictures in files are read by data sets, not by graphs",
    r"test_attention_(3d|4d)_(attn_mask_)?(causal_|padded_kv_|causal_padded_kv_)bf16(_expanded)?": _HALF,
    r"test_attention_4d_causal_fp16(_expanded)?": _HALF,
    r"test_dft_inverse(_opset19)?": "expected are the errors of another way of computing, around 1e-7; they are 1e-14 here",
    r"test_bernoulli.*": _RANDOM,
    r"test_training_dropout(_default)?(_mask)?": _RANDOM,
    r"test_reduce_(max|min)_empty_set": "placeholders have no size 0: how many elements there are is open, and none has no largest one",
    r"test_scan_sum": "Scan of version 8 has a batch axis of its own",
}
