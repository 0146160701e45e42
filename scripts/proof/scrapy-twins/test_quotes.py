# Run with the saved page as its argument.
import sys
import unittest
from pathlib import Path

from quotes_spider import Quotes
from scrapy.http import HtmlResponse, Request


class QuotesTest(unittest.TestCase):
    def test_takes_the_quotes_of_a_page_and_follows_the_link_to_the_next_one(self):
        url = "https://quotes.example/"
        body = Path(sys.argv[-1]).read_bytes()
        page = HtmlResponse(url, body=body, encoding="utf-8")
        results = list(Quotes().parse(page))
        items = [result for result in results if isinstance(result, dict)]
        requests = [result.url for result in results if isinstance(result, Request)]
        self.assertEqual(items, [{"text": "“To be.”", "author": "Hamlet", "tags": ["life"]}])
        self.assertEqual(requests, ["https://quotes.example/page/2/"])


unittest.main(argv=sys.argv[:1])
