import scrapy


class Arguments(scrapy.Spider):
    name = "arguments"
    custom_settings = {"CONCURRENT_REQUESTS": 4, "USER_AGENT": "examples (+https://example.com/)"}

    def __init__(self, site, category="desk", **kwargs):
        super().__init__(**kwargs)
        self.category = category
        self.start_urls = [f"{site}/category/{category}"]

    def parse(self, response):
        self.logger.info("products of the category %s", self.category)
        for product in response.css("a"):
            yield {
                "category": self.category,
                "name": product.css("::text").get(),
                "userAgent": self.settings["USER_AGENT"],
            }
