"""The price table: what every Claude model cost, and since when."""

from .book import PriceBook, Tariff, plain_name, price_book, short_name

__all__ = ["PriceBook", "Tariff", "plain_name", "price_book", "short_name"]
