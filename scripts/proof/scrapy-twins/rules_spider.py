from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class Rules(CrawlSpider):
    name = "rules"
    rules = [
        Rule(LinkExtractor(allow="/category/")),
        Rule(LinkExtractor(allow="/product/"), callback="parse_product"),
    ]

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/shop"]

    def parse_product(self, response):
        yield {"url": response.url, "name": response.css("h1::text").get()}
