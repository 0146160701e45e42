import scrapy
from scrapy.http import JsonRequest


class JsonApi(scrapy.Spider):
    name = "json-api"

    def start_requests(self):
        yield self.search(1)

    def search(self, page):
        data = {"query": getattr(self, "query", "desk"), "page": page}
        return JsonRequest(f"{self.site}/api/search", data=data, cb_kwargs={"page": page})

    def parse(self, response, page):
        found = response.json()
        for result in found["results"]:
            yield {"id": result["id"], "name": result["name"], "price": result["price"]}
        if found["has_next"]:
            yield self.search(page + 1)
