"""Lexical and dense search over a snapshot, and the text statistics behind them."""
